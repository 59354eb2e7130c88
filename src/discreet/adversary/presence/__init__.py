"""What a release discloses about who is in the table."""
