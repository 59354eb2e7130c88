"""Hot loops: arrays in, arrays out; kernels know nothing about tables, promises or files."""
