"""Comparisons on equal terms: for every scheme the promise is searched at which its release has the same t or loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, get_args

from discreet.analyst.loss import ail
from discreet.errors import DiscreetError
from discreet.options import checked
from discreet.principles import Prior
from discreet.principles.principle import Principle, main_parameter
from discreet.principles.t_closeness import TCloseness
from discreet.schemes import Scheme
from discreet.table.table import Column, Table

T = TypeVar("T")
Measured = Literal["t", "loss"]
DOUBLINGS, HALVINGS = 12, 7
"""How often a search doubles a parameter until it is beyond, and how often it then halves the range."""


@dataclass(frozen=True)
class Equal:
    """What releases have in common: a t of at most so much, or a loss (AIL) of at most so much.

    >>> Equal.parse("t=0.1")
    Equal(measured='t', value=0.1)
    """

    measured: Measured
    value: float

    @classmethod
    def parse(cls, text: str) -> Equal:
        """Read ``t=0.1`` or ``loss=0.3``."""
        name, _, number = text.partition("=")
        try:
            value = float(number)
        except ValueError:
            value = -1.0
        name = name.strip()
        if name not in get_args(Measured) or not 0.0 < value < 1.0:
            raise DiscreetError(
                f"releases can have the same t or loss, from 0 to 1, and {text!r} says neither; try t=0.1 or loss=0.3"
            )
        return cls(name, value)  # type: ignore[arg-type]

    def of(self, release: Any, table: Table) -> float:
        """The t or the loss of a release."""
        if self.measured == "loss":
            if release.exact_quasi:
                raise DiscreetError("its quasi-identifiers are exact, so it has no loss to be equal in")
            return ail(release)
        if getattr(release, "counts", None) is None:
            raise DiscreetError("it has no groups, so it has no t to be equal in")
        return float(TCloseness(1, distance_of(table.sensitive_attribute)).achieved(release.counts, Prior.of(table)))

    def searched(self, scheme: Scheme, table: Table, promise: Principle) -> Principle:
        """The promise of the same kind at which a release has this t or loss.

        For an equal t the weakest promise at which no group is farther away; for an equal loss the strongest at which
        no more is lost.
        """
        if len(promise.parts) != 1:
            raise DiscreetError(f"{promise} has several parameters to search; promise one thing where terms are equal")
        name = main_parameter(str(promise))
        start = float(checked(name, getattr(promise, name), float))

        def promised(value: float) -> Principle:
            whole = isinstance(getattr(promise, name), int) and name == "k"
            return replace(promise, **{name: round(value) if whole else float(f"{value:.6g}")})  # type: ignore[type-var]

        def kept(value: float) -> bool:
            return self.of(scheme.publish(table, promised(value)), table) <= self.value

        weaker = self.measured == "t"
        return promised(farthest(kept, start, grows=weaker != promise.larger_is_stronger))


def distance_of(column: Column | None) -> Literal["equal", "ordered"]:
    """The distance of t-closeness that suits a sensitive attribute: ordered where its values are."""
    return "equal" if column is None or column.kind == "categorical" else "ordered"


def farthest(kept: Callable[[float], bool], start: float, *, grows: bool) -> float:
    """The value farthest above ``start``, or below it, at which a condition is kept: by doubling, then by halving.

    Where the start does not keep it, values on the other side are tried. Values that are refused do not keep it.

    >>> round(farthest(lambda value: value <= 10, 1.0, grows=True), 1)
    10.0
    """
    step = 2.0 if grows else 0.5
    last: DiscreetError | None = None

    def keeps(value: float) -> bool:
        nonlocal last
        try:
            return kept(value)
        except DiscreetError as fault:
            last = fault
            return False

    near = start
    for _ in range(DOUBLINGS):
        if keeps(near):
            break
        near /= step
    else:
        raise last or DiscreetError("no parameter makes terms equal; ask for another value, or leave the scheme out")
    far = near * step
    for _ in range(DOUBLINGS):
        if not keeps(far):
            break
        near, far = far, far * step
    for _ in range(HALVINGS):
        middle = (near * far) ** 0.5
        near, far = (middle, far) if keeps(middle) else (near, middle)
    return near
