"""What is told about tables and releases: numbers and sentences for people who decide."""
