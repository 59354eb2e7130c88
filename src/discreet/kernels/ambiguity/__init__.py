"""Hot loops of building ambiguous groups."""
