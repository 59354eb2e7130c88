"""The audit of ambiguous releases."""
