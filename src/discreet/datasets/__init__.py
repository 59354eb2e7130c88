"""Invented tables for examples and tests: a census of any size, and a few patients for the documentation."""

from discreet.datasets.census import (
    DOMAINS,
    HETEROGENEOUS_QUASI,
    LIKENESS_QUASI,
    census,
    census_arrow,
    census_hierarchies,
)
from discreet.datasets.patients import diseases, patients, patients_arrow

__all__ = [
    "DOMAINS",
    "HETEROGENEOUS_QUASI",
    "LIKENESS_QUASI",
    "census",
    "census_arrow",
    "census_hierarchies",
    "diseases",
    "patients",
    "patients_arrow",
]
