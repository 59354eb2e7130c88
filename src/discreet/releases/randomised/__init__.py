"""Releases with exact quasi-identifiers and randomised sensitive values: perturbed and retained."""
