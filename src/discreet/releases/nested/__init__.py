"""Rows under the nodes of a tree of persons: each under the description of its person's leaf or of an ancestor."""
