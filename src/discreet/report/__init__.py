"""Comparisons, plans and profiles of tables and releases, as numbers, sentences, pages and plots."""
