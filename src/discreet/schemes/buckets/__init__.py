"""Schemes that put sensitive values into buckets: BUREL and SABRE."""
