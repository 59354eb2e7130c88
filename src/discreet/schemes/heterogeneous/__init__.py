"""Heterogeneous generalization: buckets by sensitive values alone, groups across buckets by quasi-identifiers alone."""
