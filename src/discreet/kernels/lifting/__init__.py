"""Hot loops of lifting: a tree of plain cuts, in which some rows are published higher than their leaf."""
