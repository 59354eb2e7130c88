"""Checks random releases from their files, by naive definitions: see ``run``."""
