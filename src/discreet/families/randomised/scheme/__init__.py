"""The schemes: perturbation and retention."""
