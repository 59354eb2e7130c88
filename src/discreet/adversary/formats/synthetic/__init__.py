"""The audit of synthetic releases."""
