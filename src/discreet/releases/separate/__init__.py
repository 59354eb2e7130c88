"""Separate releases: rows without their sensitive values, which are counted."""
