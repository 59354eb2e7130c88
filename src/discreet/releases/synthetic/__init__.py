"""Synthetic releases: rows that are drawn, and belong to nobody."""
