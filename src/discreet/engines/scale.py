"""How much memory there is, and the sizes that follow from it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Self

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.options import brief
from discreet.processors import memory as of_machine

UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12}
LEAST = 10**9
"""The least that publishing may be told to take: with its libraries it begins at a third of this."""
ROW_BYTES, CELL_BYTES = 100, 60
"""What a part takes while groups are formed in it, about: for a row, and for each of its cells."""


@dataclass(frozen=True)
class Scale:
    """What the database may take, and how many rows parts and samples have."""

    database: int
    """Bytes."""
    part: int
    """The most rows of a part that are aimed at."""
    sample: tuple[int, int] = (200_000, 1_000_000)
    """The least and the most rows of a sample."""
    share: float = 0.02
    """The share of the table that the sample is, between these."""

    @classmethod
    def of(cls, memory: str | None, columns: int) -> Self:
        """Return the scale for so much memory, by default half of the machine's, and a table of so many columns."""
        total = (of_machine() or 8 * 10**9) // 2 if memory is None else bytes_of(memory)
        total = max(total, LEAST)
        part = int(0.3 * total / (ROW_BYTES + columns * CELL_BYTES))
        # a sample is cut before there are parts, so it may take what a part takes
        return cls(int(0.3 * total), part, (min(200_000, part), min(1_000_000, part)))

    def sample_of(self, rows: int) -> float:
        """Return the share of so many rows that a sample of them is."""
        least, most = self.sample
        return min(1.0, max(least, min(most, self.share * rows)) / max(1, rows))


def bytes_of(text: str) -> int:
    """Return how many bytes a text such as 2GB means.

    >>> bytes_of("2GB"), bytes_of(" 1.5 gb")
    (2000000000, 1500000000)
    """
    match = re.fullmatch(r"\s*(\d{1,9}(?:\.\d{1,9})?)\s*([MGT]B)\s*", text, re.IGNORECASE | re.ASCII)
    total = int(float(match[1]) * UNITS[match[2].upper()]) if match else 0
    if total >= LEAST:
        return total
    wrong = "is no amount of memory" if match is None else f"is too little: publishing takes {LEAST // 10**9} GB"
    raise DiscreetError(f"{brief(text)} {wrong}; say for example {argument('memory', '2GB')}", "memory")
