"""Rows that protect each other although their boxes differ: every row under its leaf or an ancestor of it."""
