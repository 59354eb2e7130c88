"""Checks that audits of several formats make."""
