"""The projected format: several tables over the same quasi-identifiers."""
