"""The example tables of papers."""

from __future__ import annotations

import pyarrow as pa

from discreet.table.read import read
from discreet.table.table import Table


def figure_1() -> Table:
    columns = {
        "age": [45, 20, 50, 60, 20, 50, 60, 60],
        "gender": ["M", "M", "M", "M", "F", "F", "F", "F"],
        "zipcode": [11000, 12000, 23000, 12000, 54000, 23000, 23000, 21000],
        "disease": ["diabetes", "flu", "diarrhea", "stroke", "leukemia", "diabetes", "leukemia", "dyspepsia"],
    }
    return read(pa.table(columns), quasi=["age", "gender", "zipcode"], sensitive="disease")
