"""CODIP: several sensitive attributes in several tables."""
