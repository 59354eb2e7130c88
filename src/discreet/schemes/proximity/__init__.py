"""The scheme for proximity promises."""
