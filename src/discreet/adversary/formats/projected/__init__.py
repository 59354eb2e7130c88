"""The audit of projected releases."""
