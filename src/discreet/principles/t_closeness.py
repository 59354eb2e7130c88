"""t-closeness: every group's distribution is close to the whole table's (Li, Li and Venkatasubramanian, ICDE 2007)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.kernels.judging import EQUAL, HIERARCHICAL, ORDERED, SLACK, Rules
from discreet.options import Interval
from discreet.principles.counts import Counts
from discreet.principles.principle import AttributeName, Principle, Reach
from discreet.principles.prior import Prior
from discreet.principles.rules import rule
from discreet.principles.wording import about, percent, rows
from discreet.table.table import Kind
from discreet.table.texts import number_text

Distance = Literal["equal", "ordered", "hierarchical"]


@dataclass(frozen=True)
class TCloseness(Principle):
    """The earth mover's distance between every group's distribution and the whole table's is at most ``t``.

    The distance is the least work that turns one distribution into the other. Moving a share of the rows from one value
    to another costs that share times the distance between the values:

    - ``equal``: 1 between any two values;
    - ``ordered``: the difference of their ranks among the m values of the table, divided by m - 1 (a missing value
      comes first);
    - ``hierarchical``: the level of their lowest common ancestor, divided by the height of the hierarchy.

    The default is ``equal``, for numbers too. It is the strictest, because the other distances never exceed 1. Plans
    and profiles use ``ordered`` for ordered values.

    t-closeness bounds a sum, not each value: a rare value may become many times likelier even with a small ``t``.
    Monotone: the distance is convex, so that of a union is at most the larger distance of its parts.

    >>> prior = Prior(np.array([1, 99]), ("HIV", "flu"))
    >>> print(TCloseness(0.05).explain([11, 89], prior))  # doctest: +NORMALIZE_WHITESPACE
    This group of 100 rows lies 0.1 from the whole table and at most 0.05 is allowed; 'HIV' differs most,
    with 11.0 % here and 1.0 % there.
    """

    name: ClassVar[str] = "t-closeness"
    example: ClassVar[str] = "'t-closeness(t=0.2)'"

    t: Annotated[float, Interval(0, 1)]
    """The largest distance between the distribution of a group and that of the whole table."""
    distance: Distance = "equal"
    """The ground distance: ``equal`` between any two values, ``ordered`` by rank, or ``hierarchical`` by their tree."""
    attribute: AttributeName | None = None
    """The sensitive attribute that the promise is about; ``None`` for every one that it fits."""

    def remark(self, name: str, kind: Kind) -> str | None:
        """A hint that the default distance ignores the order of the sensitive values, if they have one.

        >>> print(TCloseness(0.2).remark("pay", "numeric"))  # doctest: +NORMALIZE_WHITESPACE
        t-closeness(t=0.2) takes any two values of 'pay' as equally far apart (distance=equal), which is stricter than
        counting the places between them in their order (distance=ordered); say which one you mean.
        """
        if self.distance != "equal" or kind == "categorical":
            return None
        return (
            f"{self} takes any two values of '{name}' as equally far apart (distance=equal), which is stricter than "
            "counting the places between them in their order (distance=ordered); say which one you mean."
        )

    def plainly(self, prior: Prior) -> str | None:
        """Say what the distance allows of a single value, or of the mean place in the order.

        >>> ill = Prior([30, 70], ("HIV", "flu"), attribute="ill")
        >>> print(TCloseness(0.2).plainly(ill))  # doctest: +NORMALIZE_WHITESPACE
        The share of a value of 'ill' in a group is at most 20 percentage points larger than in the table: one that
        50.0 % of the rows have is believed of a person with at most 70.0 %, by what is published of that group.
        >>> pay = Prior([1] * 51, tuple(map(str, range(51))), "numeric", attribute="pay")
        >>> print(TCloseness(0.2, "ordered").plainly(pay))  # doctest: +NORMALIZE_WHITESPACE
        On average, the people of a group stand at most 10 of 51 places higher or lower in the order of the values of
        'pay' than those of the whole table.
        """
        about_values, places = f"the values of '{prior.attribute}'", self.t * (len(prior.values) - 1)
        if self.distance == "ordered":
            return (
                f"On average, the people of a group stand at most {about(places)} of {len(prior.values):,} places "
                f"higher or lower in the order of {about_values} than those of the whole table."
            )
        if self.distance == "equal":
            share = float(np.median(prior.frequencies[prior.counts > 0]))
            return (
                f"The share of a value of '{prior.attribute}' in a group is at most {number_text(100.0 * self.t)} "
                f"percentage points larger than in the table: one that {percent(share)} of the rows have is believed "
                f"of a person with at most {percent(min(1.0, share + self.t))}, by what is published of that group."
            )
        return None

    def misfit(self, prior: Prior) -> str | None:
        """The attribute needs an order or a hierarchy if the distance does."""
        if self.distance == "ordered" and prior.kind == "categorical":
            return (
                f"{self} needs an order of values and the sensitive attribute '{prior.attribute}' is categorical; "
                f"declare it ordinal or numeric, or ask for distance=equal"
            )
        if self.distance == "hierarchical":
            tree = prior.hierarchy
            if tree is None or tree.height < 2 or tree.ancestors.shape[1] != len(prior.values):
                return (
                    f"{self} needs a hierarchy of the sensitive attribute '{prior.attribute}' with a level between its "
                    f"values and its root; declare one, or ask for distance=equal"
                )
        return None

    def rules(self, prior: Prior) -> Rules:
        """One rule on the distance to the prior."""
        self.require(prior)
        kind = {"equal": EQUAL, "ordered": ORDERED, "hierarchical": HIERARCHICAL}[self.distance]
        tree = prior.hierarchy.ancestors if self.distance == "hierarchical" and prior.hierarchy else None
        return rule(kind, self.t, width=len(prior.values), bounds=prior.frequencies, tree=tree)

    def distances(self, counts: ArrayLike | Counts, prior: Prior) -> NDArray[np.float64]:
        """The distance of each group from the whole table: its strain against t=1, without the slack."""
        return replace(self, t=1.0).strain(counts, prior) * (1.0 + SLACK)

    def reachable(self, prior: Prior) -> Reach:
        """Always feasible: the whole table as one group has distance 0."""
        self.require(prior)
        return Reach(True, 0.0, f"{self} can be kept, like any t, because the whole table as one group has distance 0.")

    def _violation(self, counts: NDArray[np.int64], prior: Prior, subject: str) -> str:
        shares = counts / counts.sum()
        worst = int(np.abs(shares - prior.frequencies).argmax())
        away = about(float(self.distances(counts[None], prior)[0]))
        return (
            f"{subject.capitalize()} of {rows(int(counts.sum()))} lies {away} from the whole table and at most "
            f"{number_text(self.t)} is allowed; '{prior.values[worst]}' differs most, with "
            f"{percent(float(shares[worst]))} here and {percent(float(prior.frequencies[worst]))} there."
        )

    def _achieved_each(self, counts: Counts, prior: Prior) -> NDArray[np.float64]:
        return self.distances(counts, prior)
