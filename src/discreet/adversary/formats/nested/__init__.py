"""The audit of nested releases."""
