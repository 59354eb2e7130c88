"""The audit of sealed releases."""
