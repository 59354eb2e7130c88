"""The values of the census table: their labels, hierarchies and frequencies.

The people are invented; shares are round figures resembling a North American census.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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

# Per occupation: share, usual education level, log-odds of a man, and where it is more frequent
# ("g" in government, "b" in one's own business).
OCCUPATIONS: dict[str, dict[str, tuple[float, float, float, str]]] = {
    "Management and finance": {
        "General managers": (3.4, 13.0, 0.5, "b"),
        "Marketing managers": (1.2, 14.0, 0.2, ""),
        "Financial managers": (1.1, 14.0, -0.1, ""),
        "Construction managers": (0.7, 12.0, 2.2, "b"),
        "Accountants": (1.9, 14.0, -0.4, ""),
        "Personnel specialists": (0.9, 13.0, -0.9, ""),
    },
    "Computing and engineering": {
        "Software developers": (1.7, 14.5, 1.3, ""),
        "Computer support specialists": (1.0, 13.0, 0.9, ""),
        "Engineers": (1.6, 14.5, 2.0, ""),
        "Engineering technicians": (0.7, 12.0, 1.6, ""),
        "Architects": (0.4, 15.0, 1.0, "b"),
    },
    "Science and culture": {
        "Scientists": (0.7, 16.2, 0.3, "g"),
        "Lawyers": (0.7, 16.0, 0.5, "b"),
        "Social workers": (0.8, 14.2, -1.2, "g"),
        "Clergy": (0.35, 14.8, 1.5, ""),
        "Artists and designers": (1.0, 13.4, 0.1, "b"),
    },
    "Teaching and health": {
        "Schoolteachers": (4.2, 14.7, -1.2, "g"),
        "Teaching assistants": (1.0, 11.8, -2.0, "g"),
        "University teachers": (0.7, 16.3, 0.1, "g"),
        "Physicians": (0.6, 16.0, 0.6, "b"),
        "Nurses": (2.4, 13.6, -2.3, ""),
        "Health technicians": (1.7, 12.6, -1.2, ""),
        "Nursing aides": (2.4, 10.3, -2.0, ""),
    },
    "Services": {
        "Police officers": (0.8, 12.6, 1.8, "g"),
        "Security guards": (0.7, 10.9, 1.2, ""),
        "Cooks": (2.2, 9.0, 0.3, ""),
        "Waiters": (1.8, 10.5, -0.9, ""),
        "Cleaners": (3.6, 8.4, -0.3, ""),
        "Gardeners": (0.9, 8.4, 2.5, "b"),
        "Hairdressers": (0.7, 10.8, -2.0, "b"),
        "Childcare workers": (1.2, 10.8, -2.6, "b"),
    },
    "Sales and office": {
        "Retail salespeople": (4.9, 11.2, 0.0, ""),
        "Cashiers": (2.9, 9.8, -1.1, ""),
        "Sales representatives": (1.8, 12.8, 0.8, ""),
        "Estate and insurance agents": (0.9, 12.9, -0.1, "b"),
        "Secretaries": (4.5, 11.6, -3.0, ""),
        "Bookkeepers": (1.6, 11.8, -2.1, ""),
        "Customer service clerks": (1.9, 11.5, -0.8, ""),
        "Stock and shipping clerks": (1.6, 10.0, 0.8, ""),
        "Postal workers": (0.4, 11.2, 0.2, "g"),
    },
    "Building and repair": {
        "Carpenters": (1.3, 9.8, 3.8, "b"),
        "Electricians": (0.7, 11.0, 3.6, ""),
        "Construction labourers": (1.5, 9.0, 3.4, ""),
        "Vehicle mechanics": (1.5, 10.0, 3.7, ""),
        "Farm workers": (0.8, 6.5, 1.3, "b"),
    },
    "Production and transport": {
        "Assemblers": (1.8, 9.8, 0.3, ""),
        "Machinists": (1.2, 10.0, 2.2, ""),
        "Sewing and laundry workers": (0.5, 7.8, -1.4, ""),
        "Truck drivers": (3.3, 9.8, 2.9, ""),
        "Bus and taxi drivers": (0.5, 10.5, 1.0, "g"),
        "Freight handlers": (1.7, 9.6, 1.5, ""),
    },
}

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
