"""Tables, releases, promises and queries that several test files share."""
