"""Splitting and partitioning for (epsilon, m)-anonymity (Li, Tao and Xiao, SIGMOD 2008), and a better partitioning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.kernels.proximity import crowd_of, deal, divisible, split
from discreet.principles.k_anonymity import KAnonymity
from discreet.principles.principle import Principle
from discreet.principles.prior import Prior
from discreet.principles.proximity import Proximity
from discreet.releases.generalizing import Values
from discreet.schemes.axes import axes_of
from discreet.schemes.grouping import GroupingScheme
from discreet.schemes.top_down import Progress
from discreet.table.table import Table

MOST_POSITIONS = 1000


@dataclass(frozen=True, kw_only=True)
class Proximal(GroupingScheme):
    """The table is split by quasi-identifiers into pieces that can be divided well, and each is dealt to groups.

    *Splitting.* With its rows in ascending order of their numbers, the crowd g of a piece is the least number such that
    no two rows g or more places apart are near to each other (neither number lies in the neighbourhood of the other).
    The piece can be divided into groups that keep the promise if and only if m g is at most its size (Theorem 1), so
    pieces are split for as long as both parts satisfy that.

    *Partitioning.* ``round-robin``, as published: a piece that keeps the promise is one group; of any other, the i-th
    row goes to group i modulo g. Why the promise is kept: rows of one group are g or more places apart, so no number
    lies in the neighbourhood of another, which therefore holds one row of the group, its own. All groups get one row in
    each complete round, and there are at least m of these, as m g is at most the size; an incomplete last round only
    makes some groups larger. So around no number lie more than 1 / m of the rows.

    ``matched``, ours: in every round, too, each group gets one row, but a row chooses among the groups to whose last
    row it is not near the one whose description it widens least; then groups exchange rows of the same round while that
    lowers the loss. Rows two rounds apart are more than g places apart, so only neighbouring rounds have to be looked
    at. Pieces that keep the promise are dealt too. Where this costs more than round-robin, round-robin is taken, so for
    the same pieces the loss is never higher.

    Unions of groups, which an adversary who only matches descriptions faces, need not keep the promise, but never go
    beyond it more than twice. Of a group's rows in the neighbourhood of any x, those up to x all lie in the
    neighbourhood of the largest of them, whose lower end is no higher; if the group keeps the promise, they are at most
    1 / m of its rows. The same goes for those from x on. So in any union at most 2 / m of the rows are near to x: who
    fears such an adversary asks for twice the m.

    Both look at sensitive values when they choose a group's rows, so an adversary who knows the program may learn from
    the choice itself.

    >>> from discreet.datasets import census
    >>> table = census(300, quasi=("age", "education"), sensitive="income")
    >>> Proximal().publish(table, Proximity(0, 3)).withheld
    0
    """

    name: ClassVar[str] = "proximity"

    partition: Literal["matched", "round-robin"] = "matched"
    """How rows of a piece are put into groups."""
    positions: int = 9
    """How many positions of a quasi-identifier are tried when a piece is split; 1, the median, as published."""
    values: Values = "interval"
    """How quasi-identifiers are published: ``interval``, ``label`` or ``set``."""
    random_state: int | None = None
    """A seed, for experiments only; without one, chance comes from the operating system."""

    def __post_init__(self) -> None:
        """Refuse what is no parameter of this scheme."""
        self._choose(partition=("matched", "round-robin"), values=get_args(Values))
        if self.positions != int(self.positions) or not 1 <= self.positions <= MOST_POSITIONS:
            raise DiscreetError(
                f"positions={self.positions!r} is not a whole number from 1 to {MOST_POSITIONS}; write positions=1"
            )

    @property
    def options(self) -> dict[str, Any]:
        """The parameters, as the manifest shows them."""
        return {"partition": self.partition, "positions": self.positions, "values": self.values}

    def refusal(self, principle: Principle, prior: Prior) -> str | None:
        """One proximity promise, with k-anonymity or without; no others."""
        near = [part for part in principle.parts if isinstance(part, Proximity)]
        rest = [part for part in principle.parts if not isinstance(part, Proximity | KAnonymity)]
        if len(near) == 1 and not rest:
            return None
        return (
            f"scheme {self.name!r} keeps one proximity promise, with k-anonymity or without, and not {principle}; "
            f"choose scheme 'cuts' for other promises"
        )

    def groups(
        self,
        table: Table,
        principle: Principle,
        prior: Prior,
        rows: NDArray[np.int64],
        rng: np.random.Generator,
        progress: Progress | None,
    ) -> NDArray[np.int32]:
        """The group of each of these rows."""
        promise = next(part for part in principle.parts if isinstance(part, Proximity))
        least = max([1, *(int(np.ceil(part.k)) for part in principle.parts if isinstance(part, KAnonymity))])
        first, last = promise.windows(prior)
        # in random order where numbers are equal: groups must not tell the order of the input
        order = rng.permutation(len(rows))
        order = order[np.argsort(table.classes[rows[order]], kind="stable")]
        points, axes = axes_of(table, "ail", self.values)
        points, classes = points[rows[order]], table.classes[rows[order]]
        if not divisible(classes, 0, len(rows), first, last, promise.m, least):
            crowd = int(crowd_of(classes, 0, len(rows), first, last))
            raise DiscreetError(_why_not(promise, least, crowd, len(rows), table.rows))
        if progress:
            progress("splitting", 0.0)
        starts = split(points, classes, order, axes, first, last, promise.m, least, int(self.positions))
        if progress:
            progress("dealing", 0.5)
        dealt = deal(points, classes, starts, axes, first, last, promise.m, least, self.partition == "matched")
        result = np.empty(len(rows), np.int32)
        result[order] = dealt
        return result


def _why_not(promise: Proximity, least: int, crowd: int, rows: int, whole: int) -> str:
    """Why rows cannot be dealt to groups, in a sentence.

    >>> _why_not(Proximity(5, 2), 4, 3, 10, 10)[:58]
    'k-anonymity(k=4) and proximity(epsilon=5, m=2) cannot be k'
    """
    reach = rows // crowd
    if promise.m <= reach:
        return (
            f"k-anonymity(k={least}) and {promise} cannot be kept together by scheme 'proximity': {crowd:,} of "
            f"{rows:,} rows lie on one side of a neighbourhood, so groups of {reach:,} rows are the largest that are "
            f"sure to keep it; ask for k={reach} or less, or for a smaller epsilon"
        )
    return (
        f"without the {whole - rows:,} rows that have to be withheld, the table cannot keep {promise}: m can be at "
        f"most {reach:,}; treat missing as a value of its own instead (--missing value), or ask for a smaller m"
    )
