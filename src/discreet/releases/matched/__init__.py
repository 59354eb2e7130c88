"""Matched releases: every row under a description of its own, around the persons that it is matched with."""
