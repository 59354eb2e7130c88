"""Anatomy releases: exact quasi-identifiers, and sensitive values counted per group."""
