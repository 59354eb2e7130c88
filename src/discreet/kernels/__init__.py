"""Hot loops: arrays in, arrays out; they know nothing of tables, promises or files."""
