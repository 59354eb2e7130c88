"""Ambiguous releases: one table per quasi-identifier, and sensitive values counted per group."""
