"""The contract of every promise, conjunctions of promises, and promises as text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, ClassVar, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.catalogue import PRINCIPLES
from discreet.errors import DiscreetError
from discreet.expressions import Expression, parse_one, split
from discreet.kernels.judging import Rules
from discreet.options import brief, hints_of, several
from discreet.principles.bounds import fewest_buckets
from discreet.principles.counts import Counts
from discreet.principles.prior import Prior
from discreet.principles.rules import combine
from discreet.principles.wording import rows
from discreet.table.table import Kind

EXAMPLE = "'beta-likeness(beta=2)'"
ATTRIBUTE = "attribute"
"""The parameter that names the sensitive attribute; without it, a promise is about every one that it fits."""
AttributeName = Annotated[
    str, 'the name of a column, in double quotes if it contains anything but letters, as in "wage (EUR)"'
]


@dataclass(frozen=True)
class Reach:
    """Whether a table can keep a promise, and the strongest parameter it could keep."""

    feasible: bool
    strongest: float | None
    """The strongest parameter that some grouping keeps; ``None`` for a conjunction, whose parts share no parameter."""
    sentence: str

    @classmethod
    def of_all(cls, reaches: Sequence[Reach]) -> Reach:
        """Whether all of several promises can be kept, and the sentences on those that cannot, or else on all."""
        decisive = [reach for reach in reaches if not reach.feasible] or reaches
        return cls(all(reach.feasible for reach in reaches), None, " ".join(reach.sentence for reach in decisive))


class Nearness(Protocol):
    """A promise that around each number of a group at most one in ``m`` of the group's rows has a nearby number."""

    @property
    def m(self) -> int:
        """The denominator of the bound: at most a share of 1 / m."""

    def windows(self, prior: Prior) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The codes of the first and the last value that count as near each value."""


P = TypeVar("P", bound="Principle")


class Principle(Expression, ABC):
    """A promise about every group of a release, with its parameters: an immutable value, checked on construction.

    A promise never sees rows. It judges groups by their counts: one line per group, one column per sensitive value.
    A group without rows keeps every promise.
    """

    larger_is_stronger: ClassVar[bool] = False
    """Whether the promise gets stronger when its main parameter grows (k, l) or when it shrinks (t, beta, delta)."""
    hides_presence: ClassVar[bool] = False
    """Whether the promise also bounds beliefs about who is in the table, which sensitive counts cannot show."""

    @classmethod
    def main_parameter(cls) -> str:
        """The name of the parameter that ``achieved`` reports."""
        return str(fields(cast(Any, cls))[0].name)

    @classmethod
    def may_name_attribute(cls) -> bool:
        """Whether promises of this kind can name the sensitive attribute that they are about."""
        return ATTRIBUTE in hints_of(cls)

    @property
    def monotone(self) -> bool:
        """Whether the union of two groups that keep the promise keeps it too.

        If so, a scheme can reject a cut as soon as one part breaks the promise, because no division of that part would
        keep it; and the whole table as one group keeps the promise whenever any grouping does.
        """
        return True

    @property
    def about_groups(self) -> bool:
        """Whether groups of rows keep the promise or break it; otherwise it is about how a release is drawn."""
        return True

    @property
    def about_values(self) -> bool:
        """Whether the promise concerns sensitive values, and not only the size of a group."""
        return True

    @property
    def least_rows(self) -> int:
        """The fewest rows per group that the promise requires explicitly."""
        return 1

    @property
    def most_presence(self) -> float:
        """The largest belief allowed in anyone's presence in the table; 1 when the promise does not bound presence."""
        return 1.0

    @property
    def combined_presence(self) -> bool:
        """Whether ``most_presence`` bounds the belief combined over all groups that may contain a person."""
        return False

    @property
    def own_row_only(self) -> float | None:
        """The bound on the belief in a value that holds for a person's own row, but not for whether some row with the
        person's values has it; ``None`` if there is no such bound, or it covers both."""
        return None

    @property
    def bounds_each_value(self) -> bool:
        """Whether the promise bounds the share of each value separately, so that persons may have several values."""
        return False

    @property
    def sufficient_share(self) -> float | None:
        """A share such that any group keeps the promise if no value exceeds it; ``None`` when there is no such share.

        This concerns sensitive values only, not presence.
        """
        return None

    @property
    def only_sufficient(self) -> bool:
        """Whether groups are held to more than the promise may need, so that one that fails need not break it."""
        return False

    @property
    def nearness(self) -> Nearness | None:
        """The promise itself, if it bounds how many rows of a group lie near each of its numbers."""
        return None

    @property
    def parts(self) -> tuple[Principle, ...]:
        """The single promises joined by ``&``, or just this promise."""
        return (self,)

    @property
    def about(self) -> str | None:
        """The sensitive attribute that the promise names; ``None`` when it applies to every one that it fits."""
        return cast(str | None, getattr(self, ATTRIBUTE, None))

    @property
    def text(self) -> str:
        """The complete promise as text, as stored in a manifest: an audit of a release judges by this text alone."""
        return str(self)

    @property
    def stated_by_attribute(self) -> bool:
        """Whether the complete text differs between sensitive attributes, so that each needs its own statement."""
        return False

    def stated(self, prior: Prior) -> Principle:
        """The promise with everything that depends on the table spelled out, so that ``text`` is complete."""
        return self

    def naming(self, attribute: str) -> Principle:
        """The promise restricted to this sensitive attribute, if promises of this kind can name one.

        >>> print(parse("l-diversity(l=2)").naming("pay"), parse("l-diversity(l=2, attribute=ill)").naming("pay"))
        l-diversity(l=2, attribute=pay) l-diversity(l=2, attribute=ill)
        """
        if self.about is not None or not self.may_name_attribute():
            return self
        return cast(Principle, replace(cast(Any, self), **{ATTRIBUTE: attribute}))

    def remark(self, name: str, kind: Kind) -> str | None:
        """A hint for users who set only the main parameter, about a sensitive attribute of this name and kind."""
        return None

    def plainly(self, prior: Prior) -> str | None:
        """What the promise means for this prior, in a plain sentence; None if its bounds on values say it."""
        return None

    def of(self, kind: type[P]) -> list[P]:
        """The parts of one kind, for schemes designed for that kind of promise.

        >>> [str(part) for part in parse("k-anonymity(k=5) & l-diversity(l=3)").of(type(parse("l-diversity(l=2)")))]
        ['l-diversity(l=3)']
        """
        return [part for part in self.parts if isinstance(part, kind)]

    def misfit(self, prior: Prior) -> str | None:
        """Why the promise is not for attributes of this kind, in a sentence; ``None`` if it fits them."""
        return None

    def require(self, prior: Prior) -> None:
        """Raise ``DiscreetError`` if the promise cannot be made about this sensitive attribute."""
        if prior.attribute is None:
            raise DiscreetError(
                f"{self} is about a sensitive attribute and the table has none; name one, or ask for k-anonymity alone"
            )
        if self.about is not None and self.about != prior.attribute:
            raise DiscreetError(
                f"{self} names the attribute '{self.about}', but the sensitive attribute is '{prior.attribute}'; "
                f"name that one, or none"
            )
        misfit = self.misfit(prior)
        if misfit is not None:
            raise DiscreetError(misfit)

    @abstractmethod
    def rules(self, prior: Prior) -> Rules:
        """The promise for this prior, as arrays for the kernels."""

    @abstractmethod
    def reachable(self, prior: Prior) -> Reach:
        """Whether any grouping of the table keeps the promise, and the strongest parameter that one could keep."""

    @abstractmethod
    def _violation(self, counts: NDArray[np.int64], prior: Prior, subject: str) -> str:
        """A sentence that describes how a group violates the promise; a bound on shares also judges expected counts."""

    @abstractmethod
    def _achieved_each(self, counts: Counts, prior: Prior) -> NDArray[Any]:
        """The strongest parameter that each of these groups keeps; there is at least one group and none is empty."""

    def strain(self, counts: ArrayLike | Counts, prior: Prior) -> NDArray[np.float64]:
        """How close each group is to violating the promise: kept up to 1, violated above."""
        return Counts.of(counts, len(prior.values)).strains(self.rules(prior))

    def holds(self, counts: ArrayLike | Counts, prior: Prior) -> NDArray[np.bool_]:
        """Which groups keep the promise."""
        return self.strain(counts, prior) <= 1.0

    def explain(self, counts: ArrayLike | Counts, prior: Prior, subject: str = "this group") -> str:
        """One sentence about one group: what breaks the promise and by how much, or that the group keeps it.

        ``subject`` is what the sentence calls it.
        """
        given = counts if isinstance(counts, Counts) else np.atleast_2d(np.asarray(counts))
        group = Counts.of(given, len(prior.values))
        if self.holds(group, prior)[0]:
            return f"{subject.capitalize()} of {rows(int(group.sizes[0]))} keeps {self}."
        return self._violation(group.line(0), prior, subject)

    def binding(self, counts: NDArray[np.int64], prior: Prior) -> str | None:
        """One sentence on what limits a group, if something other than the main parameter does."""
        return None

    def achieved(self, counts: ArrayLike | Counts, prior: Prior) -> float:
        """The strongest value of the main parameter for which all these groups keep the promise.

        For k-anonymity this is the smallest group size, for t-closeness the largest distance, and so on; the other
        parameters keep their values. Infinite for k and l when there are no groups, and for beta and delta when no
        finite value suffices.
        """
        return self.weakest(self.achieved_each(counts, prior))

    def weakest(self, each: NDArray[Any]) -> float:
        """The weakest of these values of the main parameter: what is kept where each of them is."""
        if len(each) == 0:
            return float("inf") if self.larger_is_stronger else 0.0
        weakest: float = (each.min() if self.larger_is_stronger else each.max()).item()
        return weakest

    def achieved_each(self, counts: ArrayLike | Counts, prior: Prior) -> NDArray[Any]:
        """The strongest value of the main parameter for which each group that is not empty keeps the promise.

        >>> from discreet.principles import LDiversity
        >>> prior = Prior(np.array([3, 3, 2]), ("flu", "cold", "cough"))
        >>> each = LDiversity(2).achieved_each([[2, 1, 1], [1, 2, 1]], prior)
        >>> each.tolist(), LDiversity(2).achieved([[2, 1, 1], [1, 1, 1]], prior)
        ([2.0, 2.0], 2.0)
        """
        self.require(prior)
        groups = Counts.of(counts, len(prior.values)).nonempty()
        return self._achieved_each(groups, prior) if len(groups) else np.zeros(0, np.int64)

    def achieved_by(self, beliefs: NDArray[np.float64], shares: NDArray[np.float64]) -> float:
        """The strongest parameter kept by these beliefs, each in a value with the given share of the whole table.

        Called only for promises with ``caps``. By default this is the largest belief.
        """
        return float(np.nanmax(beliefs, initial=0.0))

    def caps(self, prior: Prior) -> NDArray[np.float64] | None:
        """The largest share that each value may have in a group, or ``None`` if the promise sets no such caps.

        Compare as ``count <= cap x size``, with the usual slack on the product.
        """
        return None

    def floors(self, prior: Prior) -> NDArray[np.float64] | None:
        """The smallest share that each value must have in a group, or ``None`` if the promise sets no such floors."""
        return None

    def only_caps(self, prior: Prior) -> bool:
        """Whether all that is promised about values are caps; k-anonymity may be promised beside them."""
        rest = [part for part in self.parts if part.caps(prior) is None]
        only_sizes = len(rest) < len(self.parts) and not any(part.about_values for part in rest)
        return only_sizes and self.floors(prior) is None

    def buckets(self, prior: Prior) -> NDArray[np.int32]:
        """The bucket of each value: values that can replace one another in a group (see ``fewest_buckets``)."""
        return fewest_buckets(prior.counts, self.caps(prior))

    def __and__(self, other: Principle) -> Principle:
        """The conjunction of both promises."""
        return conjunction([self, other])


@dataclass(frozen=True, eq=False)
class All(Principle):
    """A conjunction of promises, judged in one call; built by ``a & b`` or ``conjunction``. Order does not matter."""

    name: ClassVar[str] = "all"
    example: ClassVar[str] = "'k-anonymity(k=5) & l-diversity(l=3)'"

    promises: tuple[Principle, ...]

    def __post_init__(self) -> None:
        """Flatten nested conjunctions and drop duplicates."""
        flat = tuple(dict.fromkeys(part for promise in self.promises for part in promise.parts))
        if len(flat) < 2:
            raise DiscreetError(f"several promises at once need two different ones, such as {self.example}")
        object.__setattr__(self, "promises", flat)

    def __eq__(self, other: object) -> bool:
        """Equal if both consist of the same promises, in any order."""
        return isinstance(other, All) and set(self.promises) == set(other.promises)

    def __hash__(self) -> int:
        """Independent of the order, as equality is."""
        return hash(frozenset(self.promises))

    def __str__(self) -> str:
        """The promises as text, joined by ``&``."""
        return " & ".join(map(str, self.promises))

    @property
    def monotone(self) -> bool:
        """Whether every part is monotone."""
        return all(part.monotone for part in self.promises)

    @property
    def about_groups(self) -> bool:
        """Whether groups of rows keep or break every part."""
        return all(part.about_groups for part in self.promises)

    @property
    def parts(self) -> tuple[Principle, ...]:
        """The single promises."""
        return self.promises

    def stated(self, prior: Prior) -> Principle:
        """The conjunction of the parts, each with its complete text (see ``Principle.stated``)."""
        return conjunction(part.stated(prior) for part in self.promises)

    def require(self, prior: Prior) -> None:
        """Raise ``DiscreetError`` if any part cannot be made about this sensitive attribute."""
        for part in self.promises:
            part.require(prior)

    def rules(self, prior: Prior) -> Rules:
        """The rules of all promises."""
        return combine([part.rules(prior) for part in self.promises])

    def reachable(self, prior: Prior) -> Reach:
        """Whether every part can be kept, which is necessary for one grouping to keep them all.

        It is also sufficient if all parts are monotone. Otherwise different parts may need different groupings.
        """
        return Reach.of_all([part.reachable(prior) for part in self.promises])

    def _violation(self, counts: NDArray[np.int64], prior: Prior, subject: str) -> str:
        worst = max(self.promises, key=lambda part: float(part.strain(counts[None], prior)[0]))
        return worst.explain(counts, prior, subject)

    def _achieved_each(self, counts: Counts, prior: Prior) -> NDArray[np.float64]:
        """The strains, at most 1 where every part is kept: the parts share no parameter to report."""
        return self.strain(counts, prior)

    def caps(self, prior: Prior) -> NDArray[np.float64] | None:
        """The smallest cap of any part, for each value."""
        known = [caps for part in self.promises if (caps := part.caps(prior)) is not None]
        return np.min(known, axis=0) if known else None

    def floors(self, prior: Prior) -> NDArray[np.float64] | None:
        """The largest floor of any part, for each value."""
        known = [floors for part in self.promises if (floors := part.floors(prior)) is not None]
        return np.max(known, axis=0) if known else None


def conjunction(promises: Iterable[Principle]) -> Principle:
    """The conjunction of these promises, or the promise itself if there is only one.

    >>> print(conjunction([parse("k-anonymity(k=5)"), parse("l-diversity(l=3)"), parse("k-anonymity(k=5)")]))
    k-anonymity(k=5) & l-diversity(l=3)
    """
    flat = list(dict.fromkeys(part for promise in promises for part in promise.parts))
    if not flat:
        raise DiscreetError(f"no promise was given; ask for one such as {EXAMPLE}")
    return flat[0] if len(flat) == 1 else All(tuple(flat))


def as_principle(given: Principle | str | Iterable[Principle | str]) -> Principle:
    """One promise from a promise, its text, or several of either.

    >>> print(as_principle(["k-anonymity(k=5)", parse("l-diversity(l=3)")]))
    k-anonymity(k=5) & l-diversity(l=3)
    """
    return conjunction(as_principles(given))


def as_principles(given: Principle | str | Iterable[Principle | str]) -> list[Principle]:
    """The promises in an argument that may contain promises, texts or both; possibly none.

    >>> [str(promise) for promise in as_principles("k-anonymity(k=5)")]
    ['k-anonymity(k=5)']
    """
    asked = several(given)
    for promise in asked:
        if not isinstance(promise, Principle | str):
            raise DiscreetError(f"{brief(promise)} is not a promise; write it like {EXAMPLE} or BetaLikeness(2)")
    return [parse(promise) if isinstance(promise, str) else promise for promise in asked]


def parse(text: str) -> Principle:
    """The promise written in a text; several are joined by ``&``.

    >>> parse("beta-likeness(beta=2)")
    BetaLikeness(beta=2.0, variant='enhanced', negative=None, level=0, attribute=None)
    >>> print(parse(" k-anonymity( k = 5 )&t-closeness(t=0.20, distance=equal)"))
    k-anonymity(k=5) & t-closeness(t=0.2)
    """
    if not isinstance(text, str):
        raise DiscreetError(f"{brief(text)} is no text of a promise; write it like {EXAMPLE}")
    return conjunction(parse_one(part, PRINCIPLES, "promise", EXAMPLE) for part in split(text, "&"))


def main_parameter(text: str) -> str:
    """The name of the parameter that ``achieved`` reports, given the text of a promise or its beginning.

    >>> main_parameter("proximity(m=3, neighbourhood=stated)"), main_parameter("k-anonymity(k=5)")
    ('m', 'k')
    """
    return str(PRINCIPLES[text.partition("(")[0].strip()].main_parameter())
