"""Top-down partitioning: our own scheme, and Mondrian."""
