"""The audit of matched releases."""
