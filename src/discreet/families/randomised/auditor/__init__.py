"""The audits of perturbed and retained releases."""
