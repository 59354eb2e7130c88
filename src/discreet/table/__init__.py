"""Turns files and frames into coded columns with roles, kinds and hierarchies; this room knows nothing of privacy."""
