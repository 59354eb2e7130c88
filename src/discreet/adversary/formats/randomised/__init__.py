"""The audit of perturbed and retained releases."""
