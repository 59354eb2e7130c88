"""How each format of release is audited."""
