"""Hot loops over boxes and the points in them."""
