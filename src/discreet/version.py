"""The version, on its own so that nothing heavy is imported to learn it."""

__version__ = "0.1.0"
