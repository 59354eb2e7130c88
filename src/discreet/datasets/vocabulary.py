"""The values of the census table: their labels, hierarchies and frequencies.

The people are invented; shares are round figures resembling a North American census.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

Nested = Mapping[str, Any]

FIRST_AGE, LAST_AGE = 16, 94
EDUCATION_LEVELS = 17
"""1 is no schooling, 9 and 10 are a high school certificate or diploma, 14 a bachelor's degree, 17 a doctorate."""

GENDER = ("Female", "Male")

MARITAL: Nested = {
    "Married": ("Spouse present", "Spouse absent", "Separated"),
    "Not married": ("Divorced", "Widowed", "Never married"),
}

WORK_CLASS: Nested = {
    "Employee": {
        "Private sector": ("Private company", "Private non-profit"),
        "Government": ("Federal government", "State government", "Local government"),
    },
    "Not an employee": {
        "Own business": ("Self-employed incorporated", "Self-employed unincorporated", "Unpaid family worker"),
        "Without work": ("Unemployed", "Not in the labour force"),
    },
}

RACE: Nested = {
    "White or Black": ("White", "Black"),
    "Asian or Pacific": ("Chinese", "Japanese", "Other Asian or Pacific Islander"),
    "Native or other": ("American Indian or Alaska Native", "Other race"),
    "Several races": ("Two races", "Three or more races"),
}
RACE_SHARES = (77.0, 11.5, 0.9, 0.4, 3.0, 0.9, 4.4, 1.6, 0.3)

COUNTRY: Nested = {  # most common first
    "North America": (
        *("United States", "Mexico", "Cuba", "El Salvador", "Canada", "Dominican Republic", "Jamaica", "Guatemala"),
        *("Haiti", "Honduras", "Trinidad and Tobago", "Nicaragua", "Panama", "Costa Rica", "Barbados", "Belize"),
        "Bahamas",
    ),
    "South America": (
        *("Colombia", "Ecuador", "Peru", "Guyana", "Brazil", "Venezuela", "Argentina", "Chile", "Bolivia", "Uruguay"),
        "Paraguay",
    ),
    "Europe": (
        *("Germany", "United Kingdom", "Poland", "Italy", "Russia", "Ukraine", "Portugal", "Greece", "France"),
        *("Ireland", "Romania", "Spain", "Bosnia and Herzegovina", "Netherlands", "Hungary", "Czechia", "Austria"),
        *("Albania", "Sweden", "Bulgaria", "Switzerland", "Belgium", "Norway"),
    ),
    "Asia": (
        *("Philippines", "India", "China", "Vietnam", "South Korea", "Taiwan", "Japan", "Iran", "Pakistan"),
        *("Hong Kong", "Laos", "Cambodia", "Thailand", "Bangladesh", "Israel", "Lebanon", "Iraq", "Indonesia"),
        *("Turkey", "Malaysia"),
    ),
    "Africa": ("Nigeria", "Ethiopia", "Egypt", "Ghana", "South Africa", "Kenya", "Morocco", "Liberia", "Cape Verde"),
    "Oceania": ("Australia", "Fiji", "New Zealand"),
}

# Per race, in the order of its leaves: the share born in the United States, and the continents of the others.
BIRTHPLACE: dict[str, tuple[float, tuple[float, ...]]] = {
    "White": (0.92, (0.46, 0.10, 0.34, 0.07, 0.02, 0.01)),
    "Black": (0.89, (0.60, 0.06, 0.03, 0.01, 0.30, 0.00)),
    "Chinese": (0.33, (0.01, 0.01, 0.01, 0.96, 0.00, 0.01)),
    "Japanese": (0.60, (0.01, 0.04, 0.01, 0.93, 0.00, 0.01)),
    "Other Asian or Pacific Islander": (0.31, (0.02, 0.02, 0.02, 0.89, 0.01, 0.04)),
    "American Indian or Alaska Native": (0.95, (0.85, 0.12, 0.01, 0.01, 0.01, 0.00)),
    "Other race": (0.51, (0.83, 0.13, 0.01, 0.02, 0.01, 0.00)),
    "Two races": (0.77, (0.40, 0.12, 0.14, 0.26, 0.06, 0.02)),
    "Three or more races": (0.86, (0.40, 0.10, 0.10, 0.34, 0.03, 0.03)),
}
# Factors for countries that are far more, or far less, frequent for one race than for others.
BIRTHPLACE_FACTORS: dict[str, dict[str, float]] = {
    "Chinese": {"China": 30, "Taiwan": 15, "Hong Kong": 15, "Vietnam": 4, "India": 0.01, "Philippines": 0.1},
    "Japanese": {"Japan": 500},
    "Other Asian or Pacific Islander": {"China": 0.02, "Taiwan": 0.02, "Hong Kong": 0.02, "Japan": 0.02, "Fiji": 8},
    "White": {"Iran": 5, "Israel": 5, "Turkey": 5, "Lebanon": 5, "Haiti": 0.05, "Jamaica": 0.05},
    "Black": {"Haiti": 8, "Jamaica": 8, "Trinidad and Tobago": 6, "Mexico": 0.05, "Egypt": 0.2, "Guyana": 6},
}


class Occupation(NamedTuple):
    """An occupation, and which people have it."""

    group: str
    name: str
    share: float
    education: float
    """The usual level."""
    man: float
    """The log-odds of a man."""
    sector: str
    """Where it is more frequent: in the government, in one's own business, or nowhere."""


@cache
def occupations() -> tuple[Occupation, ...]:
    """Return all occupations, those of a group together."""
    with Path(__file__).with_name("occupations.csv").open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    return tuple(
        Occupation(group, name, float(share), float(education), float(man), sector)
        for group, name, share, education, man, sector in rows
    )


# Rows per salary class among 500,000. Class 12 is the most frequent (4.8402 %), class 49 the least (0.2018 %); the
# highest class is open-ended and therefore a little larger than its neighbours.
SALARY_SHARES = np.array(
    [
        *(9000, 11150, 13175, 15069, 16825, 18434, 19896, 21188, 22300, 23207),
        *(23873, 24201, 23424, 22270, 20966, 19592, 18200, 16821, 15480, 14192),
        *(12968, 11815, 10737, 9735, 8809, 7959, 7180, 6470, 5825, 5241),
        *(4714, 4240, 3814, 3434, 3094, 2791, 2522, 2284, 2073, 1888),
        *(1726, 1584, 1460, 1353, 1260, 1181, 1114, 1057, 1009, 1400),
    ],
    dtype=np.int64,
)
