"""Mondrian (LeFevre et al., ICDE 2006): median cuts along the widest quasi-identifier, with any monotone promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from discreet.errors import DiscreetError
from discreet.kernels.cuts.terms import Recipe
from discreet.schemes.cuts.scheme import Cuts


@dataclass(frozen=True, kw_only=True)
class Mondrian(Cuts):
    """Plain cuts only, at the median, along the widest quasi-identifier that allows one.

    With beta-likeness this is LMondrian in the literature, with delta-disclosure DMondrian, with t-closeness tMondrian.
    It serves as the yardstick; ``Cuts`` loses less. Why the promise is kept: see ``Cuts``.
    """

    name: ClassVar[str] = "mondrian"

    cuts: str | Sequence[str] = ("plain",)

    def __post_init__(self) -> None:
        """Raise an error for other cuts than Mondrian's."""
        super().__post_init__()
        if self.cuts != ("plain",):
            raise DiscreetError(f"scheme {self.name!r} makes plain cuts only; for others choose scheme {Cuts.name!r}")

    def _recipe(self, families: int) -> Recipe:
        return Recipe(families, 1, 1, 0.0, 0, True)
