"""Schemes that randomise sensitive values: perturbation and retention."""
