"""Attacks on releases, to be measured beside what is promised."""
