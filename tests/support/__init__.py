"""What test files share: tables, releases, promises and queries to try things on."""
