"""Hot loops of top-down partitioning."""
