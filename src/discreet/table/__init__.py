"""From files and frames to coded columns with roles, kinds and hierarchies; this room knows nothing of privacy."""
