"""The scheme for ambiguous releases."""
