"""The releases: perturbed and retained."""
