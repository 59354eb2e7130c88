"""Ambiguous releases: a table per quasi-identifier, and sensitive values counted per group."""
