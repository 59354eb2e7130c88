"""Brute-force oracles: slow, obvious, and independent of the code they check."""
