"""What a release tells about who is in the table."""
