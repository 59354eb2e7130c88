"""What the names of columns say: who is meant, what others may know, and what is sensitive."""

from __future__ import annotations

import re

PERSONS = (
    r"(patient|mrn|nhs|medical_?record|individual|person|subject|participant|member|client|customer|case|respondent|"
    r"employee|student|pupil|inmate|insured|beneficiary|claimant|taxpayer)"
    r"(_?(id|nr|no|num|number|code|key|ref|index|uuid|hash|pseudonym))?"
)
"""What people call the one whose row it is, which is the whole name or its end."""
IDENTIFIERS = r"(^|_)(id|name|names|surname|firstname|lastname|ssn|email|mail|phone|passport|iban|address|record)(_|$)"
TRAITS = (
    r"sex|gender|birth|born|dob|yob|race|ethnic|hisp|nationality|citizen|blood|mother|"
    r"geschlecht|geburt|gebdat|sexe|naissance|sexo|nacimiento|geslacht|geboorte|sesso|nascita"
)
"""What a person hardly ever changes."""
QUASI = (
    r"age|birth|dob|sex|gender|zip|postcode|postal|puma|city|town|county|state|region|country|nation|race|ethnic|hisp|"
    r"marital|msp|married|education|edu|school|degree|workclass|work_class|household|children|language|height|weight"
)
SENSITIVE = (
    r"disease|diagnos|illness|condition|icd|hiv|drug|medication|treatment|salary|income|wage|earning|pay|pincp|"
    r"occupation|religion|politic|party|orientation|crime|offence|offense|debt|grade|score"
)

CODES = r"zip|postal|postcode|post_code|plz|icd|nuts|isco|nace|naics|soc|code"
"""Codes of which the beginning is a larger area or a wider class."""


def _plain(name: str) -> str:
    """Return a name in lower case, its words joined by underscores."""
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()).strip("_")


def names_somebody(name: str) -> bool:
    """Whether a name says that the column tells whose row it is.

    >>> [name for name in ("MRN", "patient_nr", "PatientID", "patient_age", "case_type") if names_somebody(name)]
    ['MRN', 'patient_nr', 'PatientID']
    """
    return re.search(rf"(^|_){PERSONS}$", _plain(name)) is not None


def names_identifier(name: str) -> bool:
    """Whether a name is that of something which has identifiers, names or addresses of its own."""
    return re.search(IDENTIFIERS, _plain(name)) is not None


def names_trait(name: str) -> bool:
    """Whether a name says that persons keep their value."""
    return re.search(rf"(^|_)({TRAITS})", _plain(name)) is not None


def names_sensitive(name: str) -> bool:
    """Whether a name says that the values are sensitive."""
    return re.search(rf"({SENSITIVE})", _plain(name)) is not None


def names_quasi(name: str) -> bool:
    """Whether a name says that others may know the values."""
    return re.search(rf"(^|_)({QUASI})|({QUASI})(p|_|$)", _plain(name)) is not None


def names_codes(name: str) -> bool:
    """Whether a name is that of codes, even if they are written in digits alone.

    >>> [name for name in ("zip", "ZipCode", "age", "society") if names_codes(name)]
    ['zip', 'ZipCode']
    """
    return re.search(rf"(^|_)({CODES})s?(_|\d|$)", _plain(name)) is not None
