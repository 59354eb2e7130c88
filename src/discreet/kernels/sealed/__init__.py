"""Hot loops of cuts under a seal: what is tested comes from quasi-identifiers and published counts, and a coin hides
why a test failed."""
