"""Hot loops of beliefs in presence."""
