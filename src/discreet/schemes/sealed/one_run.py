"""What sealed and mirrored share: their options, and what neither of them does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.principles.per_attribute import apart
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.releases.generalized.describe import Values
from discreet.schemes.axes import Loss
from discreet.schemes.grouping import confirm
from discreet.schemes.keepers import way_out
from discreet.schemes.scheme import Scheme
from discreet.table.table import Table


@dataclass(frozen=True, kw_only=True)
class OneRunScheme(Scheme):
    """A scheme whose promise covers whoever knows the algorithm, and so one run of it."""

    one_run: ClassVar[bool] = True
    several: ClassVar[bool] = True

    loss: Loss = "ail"
    """The loss by which cuts are put in order: ``ail``, ``gcp`` or ``discernibility``."""
    values: Values = "interval"
    """How quasi-identifiers are published: ``interval``, ``label`` or ``set``."""
    random_state: int | None = None
    """A seed, for experiments only: whoever knows it can repeat what was drawn, and nothing is sealed."""

    def refusal(self, principle: Principle, prior: Prior) -> str | None:
        """Accept every promise that unions of groups keep, but none about who is in the table."""
        return self._hides_nobody(principle) or super().refusal(principle, prior)

    def _confirm(self, groups: NDArray[np.int32], table: Table, principle: Principle) -> None:
        """Judge once more what is about to be published, about each sensitive attribute."""
        for promise, one in apart(principle, table):
            confirm(groups, one.classes, promise, Prior.of(one))

    def _hides_nobody(self, principle: Principle) -> str | None:
        """Return why a promise about who is in the table cannot be kept; None if there is none."""
        if any(part.most_presence < 1.0 for part in principle.parts):
            return f"scheme {self.name!r} does nothing to hide who is in the table; {way_out(principle)}"
        return None

    def _check_usable(self, table: Table) -> None:
        """Refuse a table with rows that would have to be withheld: values decide which go with them."""
        if table.unusable is not None and len(table.unusable):
            raise DiscreetError(
                f"scheme {self.name!r} withholds no rows, and {len(table.unusable):,} have missing numbers; treat "
                f"missing as a value of its own instead ({argument('missing', 'value')}), or choose scheme 'cuts'"
            )
