"""Generalized releases: rows in groups, every group under one description."""
