"""The screens, a file for each."""
