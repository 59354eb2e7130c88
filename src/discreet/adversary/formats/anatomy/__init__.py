"""The audit of anatomy releases."""
