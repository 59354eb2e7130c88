"""Random releases, checked by the naive definitions from their files: see ``run``."""
