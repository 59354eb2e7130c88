"""What every promise can do, how several are kept at once, and how they are written and read as text."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.kernels.judging import Rules
from discreet.principles.buckets import fewest_buckets
from discreet.principles.counts import Counts
from discreet.principles.parameters import Parameter
from discreet.principles.prior import Prior
from discreet.principles.rules import combine
from discreet.principles.wording import rows
from discreet.table.texts import near


@dataclass(frozen=True)
class Reach:
    """Whether a table can keep a promise, and how strong a promise of this kind it could keep."""

    feasible: bool
    strongest: float | None
    """The strongest parameter that some grouping keeps; ``None`` for several promises, which share none."""
    sentence: str


class Principle(ABC):
    """A promise about every group of a release, with its parameters: a value that is checked when it is made.

    A promise never sees rows. It judges groups by their counts: one line per group, one column per sensitive value.
    A group without rows keeps every promise.
    """

    name: ClassVar[str]
    example: ClassVar[str]
    """A promise of this kind as text, shown where one is badly written."""
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    larger_is_stronger: ClassVar[bool] = False
    """Whether the promise gets stronger when its main parameter grows (k, l) or when it shrinks (t, beta, delta)."""
    hides_presence: ClassVar[bool] = False
    """Whether the promise is also about who is in the table at all, which no count of sensitive values tells."""

    def __post_init__(self) -> None:
        """Check every parameter and bring it to its proper type."""
        for parameter in self.parameters:
            value = parameter.check(self.name, getattr(self, parameter.name), self.example)
            object.__setattr__(self, parameter.name, value)

    @property
    def monotone(self) -> bool:
        """Whether the union of two groups that keep the promise keeps it.

        Then a cut that breaks it can be given up without looking further, and the whole table as one group keeps it
        whenever any grouping does.
        """
        return True

    @property
    def about_values(self) -> bool:
        """Whether it says anything about sensitive values, and not only about how many rows a group has."""
        return True

    @property
    def least_rows(self) -> int:
        """How many rows every group must have, as far as the promise says so."""
        return 1

    @property
    def most_presence(self) -> float:
        """The largest belief that it allows in anyone's being in the table; 1 when it says nothing about that."""
        return 1.0

    @property
    def bounds_each_value(self) -> bool:
        """Whether it bounds the share of each value on its own, and can so be about persons who have several."""
        return False

    @property
    def parts(self) -> tuple[Principle, ...]:
        """The single promises that this one is made of: itself, or those joined by ``&``."""
        return (self,)

    @property
    def about(self) -> str | None:
        """The sensitive attribute that the promise names; ``None`` when it is about each there is."""
        return None

    @property
    def text(self) -> str:
        """The whole promise as text, for a manifest: an audit has nothing else to judge by."""
        return str(self)

    def stated(self, prior: Prior) -> Principle:
        """The promise about one table, such that its ``text`` says all of it."""
        return self

    def require(self, prior: Prior) -> None:
        """Refuse, in one sentence, a sensitive attribute that this promise cannot be made about."""
        if prior.attribute is None:
            raise DiscreetError(
                f"{self} is about a sensitive attribute and the table has none; name one, or ask for k-anonymity alone"
            )

    @abstractmethod
    def rules(self, prior: Prior) -> Rules:
        """The promise about one table, as arrays for the kernels."""

    @abstractmethod
    def reachable(self, prior: Prior) -> Reach:
        """Whether any grouping of the table keeps the promise, and the strongest that one could keep."""

    @abstractmethod
    def _violation(self, counts: NDArray[np.int64], prior: Prior) -> str:
        """What is wrong with a group that violates the promise; counts may be expected ones where it bounds shares."""

    @abstractmethod
    def _achieved(self, counts: Counts, prior: Prior) -> float:
        """The strongest parameter that these groups (at least one, none empty) keep."""

    def strain(self, counts: ArrayLike | Counts, prior: Prior) -> NDArray[np.float64]:
        """How close each group is to violating the promise: it holds up to 1, and is violated above."""
        return Counts.of(counts, len(prior.values)).strains(self.rules(prior))

    def holds(self, counts: ArrayLike | Counts, prior: Prior) -> NDArray[np.bool_]:
        """Which groups keep the promise."""
        return self.strain(counts, prior) <= 1.0

    def explain(self, counts: ArrayLike | Counts, prior: Prior) -> str:
        """One sentence about one group: what breaks the promise and by how much, or that it is kept."""
        given = counts if isinstance(counts, Counts) else np.atleast_2d(np.asarray(counts))
        group = Counts.of(given, len(prior.values))
        if self.holds(group, prior)[0]:
            return f"This group of {rows(int(group.sizes[0]))} keeps {self}."
        return self._violation(group.line(0), prior)

    def binding(self, counts: NDArray[np.int64], prior: Prior) -> str | None:
        """What limits one group, in a sentence, where it is something else than the main parameter."""
        return None

    def achieved(self, counts: ArrayLike | Counts, prior: Prior) -> float:
        """The strongest value of the main parameter for which all these groups keep the promise.

        For k-anonymity the smallest group, for t-closeness the largest distance, and so on; the other parameters stay
        as they are. Infinite for k and l when there are no groups; infinite for beta and delta when no value will do.
        """
        self.require(prior)
        groups = Counts.of(counts, len(prior.values)).nonempty()
        if len(groups) == 0:
            return float("inf") if self.larger_is_stronger else 0.0
        return self._achieved(groups, prior)

    def caps(self, prior: Prior) -> NDArray[np.float64] | None:
        """The largest share that each value may have in a group, when the promise says one.

        To be compared as ``count <= cap x size``, with the slack that all such comparisons have.
        """
        return None

    def floors(self, prior: Prior) -> NDArray[np.float64] | None:
        """The smallest share that each value must have in a group, when the promise says one."""
        return None

    def buckets(self, prior: Prior) -> NDArray[np.int32]:
        """The bucket of each value: values that may stand in for each other (see ``fewest_buckets``)."""
        return fewest_buckets(prior.counts, self.caps(prior))

    def __and__(self, other: Principle) -> Principle:
        """Both promises at once."""
        return together([self, other])

    def __str__(self) -> str:
        """The promise as text, which ``parse`` reads back: parameters left at their defaults are not written."""
        written = []
        declared = {parameter.name: parameter for parameter in self.parameters}
        for field in fields(cast(Any, self)):
            value = getattr(self, field.name)
            if field.default is MISSING or value != field.default:
                written.append(f"{field.name}={declared[field.name].write(value)}")
        return f"{self.name}({', '.join(written)})"


@dataclass(frozen=True, eq=False)
class All(Principle):
    """Several promises at once, in any order, judged in one call; made by ``a & b`` or ``together``."""

    name: ClassVar[str] = "all"
    example: ClassVar[str] = "'k-anonymity(k=5) & l-diversity(l=3)'"

    promises: tuple[Principle, ...]

    def __post_init__(self) -> None:
        """Take apart what is itself several promises, and keep each one once."""
        flat = tuple(dict.fromkeys(part for promise in self.promises for part in promise.parts))
        if len(flat) < 2:
            raise DiscreetError(f"several promises at once need two different ones, such as {self.example}")
        object.__setattr__(self, "promises", flat)

    def __eq__(self, other: object) -> bool:
        """The same promises, in any order."""
        return isinstance(other, All) and set(self.promises) == set(other.promises)

    def __hash__(self) -> int:
        """The same for the same promises in any order."""
        return hash(frozenset(self.promises))

    def __str__(self) -> str:
        """The promises as text, joined by ``&``."""
        return " & ".join(map(str, self.promises))

    @property
    def monotone(self) -> bool:
        """Whether the union of two groups that keep the promises keeps them."""
        return all(part.monotone for part in self.promises)

    @property
    def parts(self) -> tuple[Principle, ...]:
        """The single promises."""
        return self.promises

    def stated(self, prior: Prior) -> Principle:
        """The promises about one table, each such that its text says all of it."""
        return together(part.stated(prior) for part in self.promises)

    def require(self, prior: Prior) -> None:
        """Refuse what one of the promises refuses."""
        for part in self.promises:
            part.require(prior)

    def rules(self, prior: Prior) -> Rules:
        """The rules of all promises."""
        return combine([part.rules(prior) for part in self.promises])

    def reachable(self, prior: Prior) -> Reach:
        """Whether any grouping keeps all promises: when each can be kept, if all are monotone.

        One that is not may be kept by other groupings than the rest: then this is needed, but not always enough.
        """
        reaches = [part.reachable(prior) for part in self.promises]
        told = [reach for reach in reaches if not reach.feasible] or reaches
        return Reach(all(reach.feasible for reach in reaches), None, " ".join(reach.sentence for reach in told))

    def _violation(self, counts: NDArray[np.int64], prior: Prior) -> str:
        worst = max(self.promises, key=lambda part: float(part.strain(counts[None], prior)[0]))
        return worst.explain(counts, prior)

    def _achieved(self, counts: Counts, prior: Prior) -> float:
        """Several promises share no parameter: the largest strain stands for it, at most 1 when all are kept."""
        return float(self.strain(counts, prior).max())

    def caps(self, prior: Prior) -> NDArray[np.float64] | None:
        """The smallest cap that any of the promises says."""
        known = [caps for part in self.promises if (caps := part.caps(prior)) is not None]
        return np.min(known, axis=0) if known else None

    def floors(self, prior: Prior) -> NDArray[np.float64] | None:
        """The largest floor that any of the promises says."""
        known = [floors for part in self.promises if (floors := part.floors(prior)) is not None]
        return np.max(known, axis=0) if known else None


def together(promises: Iterable[Principle]) -> Principle:
    """All of these promises at once; the promise itself when it is only one.

    >>> print(together([parse("k-anonymity(k=5)"), parse("l-diversity(l=3)"), parse("k-anonymity(k=5)")]))
    k-anonymity(k=5) & l-diversity(l=3)
    """
    flat = list(dict.fromkeys(part for promise in promises for part in promise.parts))
    if not flat:
        raise DiscreetError("no promise was given; ask for one such as 'beta-likeness(beta=2)'")
    return flat[0] if len(flat) == 1 else All(tuple(flat))


def promised(given: Principle | str | Iterable[Principle | str]) -> Principle:
    """One promise of what somebody asks for: a promise or its text, or several.

    >>> print(promised(["k-anonymity(k=5)", parse("l-diversity(l=3)")]))
    k-anonymity(k=5) & l-diversity(l=3)
    """
    return together(asked_for(given))


def asked_for(given: Principle | str | Iterable[Principle | str]) -> list[Principle]:
    """The promises that somebody asks for, by themselves or by their texts; maybe none.

    >>> [str(promise) for promise in asked_for("k-anonymity(k=5)")]
    ['k-anonymity(k=5)']
    """
    asked = [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)
    for one in asked:
        if not isinstance(one, Principle | str):
            raise DiscreetError(f"{one!r} is no promise; write it like 'beta-likeness(beta=2)' or BetaLikeness(2)")
    return [parse(one) if isinstance(one, str) else one for one in asked]


_QUOTED = r'"(?:\\.|[^"\\])*+"'
_FORM = re.compile(rf'([^\s()"]+)\s*(?:\(((?:{_QUOTED}|[^()"]++)*+)\))?', re.DOTALL)
_PIECES = re.compile(rf'{_QUOTED}|[^",&]++|.', re.DOTALL)


def parse(text: str) -> Principle:
    """The promise that a text means; several are joined by ``&``.

    >>> parse("beta-likeness(beta=2)")
    BetaLikeness(beta=2.0, variant='enhanced', negative=None, level=0)
    >>> print(parse(" k-anonymity( k = 5 )&t-closeness(t=0.20, distance=equal)"))
    k-anonymity(k=5) & t-closeness(t=0.2)
    """
    return together(_parse_one(part.strip()) for part in _split(text, "&"))


def _split(text: str, mark: str) -> list[str]:
    """The parts of a text between marks that do not stand in double quotes."""
    parts = [""]
    for piece in _PIECES.findall(text):
        if piece == mark:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _parse_one(text: str) -> Principle:
    from discreet.principles import PRINCIPLES  # the promises are instances of this file's contract

    form = _FORM.fullmatch(text)
    if form is None:
        raise DiscreetError(f"promise '{text}' cannot be read; write it like 'beta-likeness(beta=2)'")
    name, inside = form[1].lower(), form[2] or ""
    kind = PRINCIPLES.get(name)
    if kind is None:
        raise DiscreetError(f"no promise is called '{form[1]}'; {near(name, PRINCIPLES, most=1)}")
    declared = {parameter.name: parameter for parameter in kind.parameters}
    given: dict[str, object] = {}
    for item in filter(None, (piece.strip() for piece in _split(inside, ","))):
        key, equals, value = (piece.strip() for piece in item.partition("="))
        key = key.lower()
        if not equals or not value:
            raise DiscreetError(f"{name}: '{item}' is not of the form name=value; write for example {kind.example}")
        if key not in declared:
            raise DiscreetError(f"{name} has no parameter '{key}'; {near(key, declared, most=1)}")
        if key in given:
            raise DiscreetError(f"{name}: {key} is given twice in '{text}'; give it once")
        try:
            given[key] = declared[key].read(value)
        except ValueError:
            raise DiscreetError(
                f"{name}: {item} cannot be read; {key} must be {declared[key].describe()}, and a quote inside it is "
                f'written \\"'
            ) from None
    for field in fields(cast(Any, kind)):
        if field.default is MISSING and field.name not in given:
            raise DiscreetError(f"{name} needs its parameter {field.name}; write for example {kind.example}")
    return kind(**given)


def main_parameter(text: str) -> str:
    """The name of the parameter that ``achieved`` is about, of a promise that begins like this text.

    >>> main_parameter("proximity(m=3, neighbourhood=stated)"), main_parameter("k-anonymity(k=5)")
    ('m', 'k')
    """
    from discreet.principles import PRINCIPLES

    return PRINCIPLES[text.partition("(")[0].strip()].parameters[0].name
