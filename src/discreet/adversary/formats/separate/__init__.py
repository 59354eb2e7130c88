"""The audit of separate releases."""
