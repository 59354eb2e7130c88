"""Hot loops for beliefs in presence."""
