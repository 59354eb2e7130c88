"""Profile a table before it is published: its columns, unique rows, and the promises it can keep."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.group_sizes import SMALL
from discreet.display import Displayed
from discreet.errors import DiscreetError
from discreet.principles import Principle, Prior, conjunction, parse
from discreet.principles.beta_likeness import BetaLikeness
from discreet.principles.delta_disclosure import DeltaDisclosure
from discreet.principles.k_anonymity import KAnonymity
from discreet.principles.l_diversity import LDiversity
from discreet.principles.persons import require_persons
from discreet.principles.proximity import Proximity
from discreet.principles.t_closeness import Distance, TCloseness
from discreet.principles.wording import percent, rows
from discreet.report.proximity_plan import largest_m, on_widest
from discreet.report.roles import ColumnProfile, describe
from discreet.table.combinations import numbered
from discreet.table.table import Column, Table

FEWEST_GROUPS = 20
"""The number of possible groups below which a promise is not suggested."""
USUAL_M, USUAL_SHARE = 5, 0.1
"""The usual strength of proximity: at most a fifth of a group near a number, within a tenth of it."""


@dataclass(frozen=True)
class Uniqueness:
    """How well a set of columns distinguishes rows."""

    columns: tuple[str, ...]
    dropped: str | None
    combinations: int
    unique: int
    """The number of rows that agree with no other row on all columns."""
    unique_share: float
    smallest: int
    median: float
    """The median size of groups of rows that agree on all columns."""


@dataclass(frozen=True)
class Reachable:
    """Whether a table can keep a promise, and a sentence about it."""

    promise: str
    feasible: bool
    strongest: float | None
    sentence: str


@dataclass(frozen=True, repr=False)
class Profile(Displayed):
    """The profile of a table."""

    rows: int
    persons: int
    """The number of persons; equal to that of rows, unless a column identifies the person of each row."""
    columns: tuple[ColumnProfile, ...]
    uniqueness: tuple[Uniqueness, ...]
    """For all quasi-identifiers together, then with each of them left out."""
    reachable: tuple[Reachable, ...]

    def _shown(self) -> list[str]:
        columns = (f"{each.name}: {each.role}, {each.kind}, {each.distinct:,} values" for each in self.columns)
        alone = [
            f"{rows(whole.unique)} ({percent(whole.unique_share)}) with a combination that no other row has"
            for whole in self.uniqueness[:1]
        ]
        return [f"Profile of {rows(self.rows)}", *alone, *columns]

    def as_dict(self) -> dict[str, Any]:
        """The profile as plain values."""
        return asdict(self)


def profile(table: Table, *, combinations: bool = True) -> Profile:
    """Profile a table in which missing numbers are read as values.

    Use ``combinations=False`` while the quasi-identifiers are not yet known; then uniqueness is not computed.

    >>> from discreet.datasets import patients
    >>> profiled = profile(patients())
    >>> profiled.rows, profiled.uniqueness[0].unique, [reach.promise for reach in profiled.reachable][:2]
    (48, 48, ['k-anonymity(k=5)', 'l-diversity(l=4)'])
    """
    roles = {column.name: "quasi" for column in table.quasi} | {column.name: "other" for column in table.other}
    columns = tuple(describe(column, roles.get(column.name, "sensitive")) for column in table.columns)
    alone = uniqueness(table.quasi) if combinations else []
    return Profile(table.rows, table.persons, columns, tuple(alone), tuple(_reachable(table)))


def uniqueness(columns: Sequence[Column]) -> list[Uniqueness]:
    """How well all columns together distinguish rows, and how well they do without each of them."""
    chosen: list[tuple[str | None, Sequence[Column]]] = [(None, columns)]
    chosen += [(column.name, [other for other in columns if other is not column]) for column in columns]
    return [_uniqueness(rest, dropped) for dropped, rest in chosen if rest]


def _uniqueness(columns: Sequence[Column], dropped: str | None) -> Uniqueness:
    names, sizes = tuple(column.name for column in columns), combination_sizes(columns)
    unique = int((sizes == 1).sum())
    share, median = unique / len(columns[0].codes), float(np.median(sizes))
    return Uniqueness(names, dropped, len(sizes), unique, share, int(sizes.min()), median)


def combination_sizes(columns: Sequence[Column]) -> NDArray[np.int64]:
    """The number of rows with each combination of values.

    >>> codes = {"a": [0, 0, 1], "b": [1, 1, 0]}
    >>> two = [Column(name, "numeric", np.array(code, np.int32), np.arange(2)) for name, code in codes.items()]
    >>> combination_sizes(two).tolist()
    [2, 1]
    """
    codes = [column.codes for column in columns]
    keys = numbered(codes, [len(column.values) for column in columns], len(codes[0]))
    return np.unique(keys, return_counts=True)[1].astype(np.int64)


def _reachable(table: Table) -> list[Reachable]:
    """The promises that a table can keep: about rows, or about persons if they may have several rows."""
    if len(table.sensitive) > 1:
        each = [_reachable(replace(table, sensitive=(column,))) for column in table.sensitive]
        whole = each[0][:1]  # k-anonymity, which is the same for all
        for column, reaches in zip(table.sensitive, each, strict=True):
            whole += [_about(column, reach) for reach in reaches[1:]]
        return whole
    if table.person is None:
        return reachable(Prior.of(table))
    persons, reaches = table.persons, []
    promises: list[Principle] = [KAnonymity(min(5, persons))]
    if table.sensitive_attribute is not None:
        promises += [LDiversity(2.0), BetaLikeness(2.0), TCloseness(0.2), DeltaDisclosure(1.0)]
    for promise in promises:
        try:
            require_persons(promise, table)
        except DiscreetError as refusal:
            reaches.append(Reachable(str(promise), False, None, f"{str(refusal)[0].upper()}{str(refusal)[1:]}."))
        else:
            room = f": there are {persons:,}, enough for at most {persons // promise.least_rows:,} groups"
            sentence = f"{promise} can be kept about persons{'' if promise.about_values else room}."
            reaches.append(Reachable(str(promise), True, None, sentence))
    return reaches


def _about(column: Column, reach: Reachable) -> Reachable:
    """The same, naming the attribute that it is about."""
    promise = str(parse(reach.promise).naming(column.name))
    return replace(reach, promise=promise, sentence=f"About {column.name!r}: {reach.sentence}")


def reachable(prior: Prior) -> list[Reachable]:
    """For each kind of promise, one of usual strength, or the strongest that the table can keep if that is weaker."""
    promises: list[Principle] = [KAnonymity(min(5, prior.rows))]
    if prior.attribute is not None:
        strongest = LDiversity(1.0).reachable(prior).strongest or 1.0
        rounded = math.floor(strongest + 1e-9) if strongest >= 2 else math.floor(strongest * 100 + 1e-9) / 100
        distance: Distance = "equal" if prior.kind == "categorical" else "ordered"
        promises += [LDiversity(float(min(10, rounded))), BetaLikeness(2.0), TCloseness(0.2, distance)]
        promises += [DeltaDisclosure(1.0)]
    return [*(_reach(promise, prior) for promise in promises), *_near(prior)]


def _reach(promise: Principle, prior: Prior) -> Reachable:
    reach = promise.reachable(prior)
    return Reachable(str(promise), reach.feasible, reach.strongest, reach.sentence)


def _near(prior: Prior) -> list[Reachable]:
    """The promises about near numbers that a table can keep, with absolute and relative neighbourhoods.

    An epsilon of about half the possible one leaves room for groups.
    """
    near = []
    try:
        best = largest_m(prior)
        m = max(2, min(USUAL_M, best))
        for kind in ("absolute", "relative") if best >= m and prior.notation == "number" else ("absolute",):
            widest = Proximity(0.0, m, kind).widest(prior)
            epsilon = float(f"{widest / 2:.0e}") if math.isfinite(widest) else USUAL_SHARE
            promise = Proximity(min(epsilon, USUAL_SHARE) if kind == "relative" else epsilon, m, kind)
            reach = _reach(promise, prior)
            width = f" {on_widest(promise, prior)}" if reach.feasible else ""
            near.append(replace(reach, sentence=f"{reach.sentence}{width}"))
    except DiscreetError:  # a sensitive attribute without numbers
        return []
    return near


def suggest_near(prior: Prior) -> str | None:
    """A promise about near numbers that a table can keep, to begin with; None if there is none.

    >>> suggest_near(Prior(np.ones(9, int), tuple(map(str, range(1000, 10000, 1000))), "numeric"))
    'proximity(epsilon=500, m=5)'
    """
    return next((near.promise for near in _near(prior) if near.feasible), None)


class Strengths(NamedTuple):
    """Promises of one kind, one of usual strength between a stronger and a weaker one; they may be equal."""

    strict: Principle
    usual: Principle
    mild: Principle


def likeness_strengths() -> Strengths:
    """Strengths of beta-likeness: values may become twice, three or five times as likely."""
    return Strengths(*map(BetaLikeness, (1.0, 2.0, 4.0)))


def suggest_strengths(prior: Prior) -> Strengths:
    """Promises to choose from: beta-likeness, unless some value is so rare that there could be very few groups.

    If the prior counts persons, who may have several values, only promises that bound each value are considered.

    >>> [str(promise) for promise in suggest_strengths(Prior(np.array([40, 60]), ("HIV", "flu")))]
    ['beta-likeness(beta=1)', 'beta-likeness(beta=2)', 'beta-likeness(beta=4)']
    """
    sizes = Strengths(*(KAnonymity(max(1, min(k, prior.rows))) for k in (10, SMALL, 3)))
    if prior.attribute is None:
        return sizes
    caps = BetaLikeness(2.0).caps(prior)
    assert caps is not None
    if caps[prior.counts > 0].min() * prior.rows >= FEWEST_GROUPS:
        return likeness_strengths()
    if prior.persons is not None:
        return sizes
    if prior.kind != "categorical":
        return Strengths(*(TCloseness(t, "ordered") for t in (0.1, 0.2, 0.3)))
    strongest = LDiversity(1.0).reachable(prior).strongest or 1.0
    if strongest < 2:
        return Strengths(*map(TCloseness, (0.1, 0.2, 0.3)))
    whole = math.floor(strongest + 1e-9)
    usual = min(5, whole)
    between = math.floor(5.0 * (usual + strongest)) / 10.0  # half-way to what the table can keep at most
    return Strengths(*(LDiversity(float(most)) for most in (min(10, max(whole, between)), usual, max(1.5, usual // 2))))


def suggest_promise(prior: Prior) -> str:
    """A promise to begin with: that of usual strength.

    >>> suggest_promise(Prior(np.array([40, 60]), ("HIV", "flu")))
    'beta-likeness(beta=2)'
    >>> suggest_promise(Prior(np.array([1] * 100), tuple(map(str, range(100))), "numeric"))
    't-closeness(t=0.2, distance=ordered)'
    """
    return str(suggest_strengths(prior).usual)


def strengths_of(table: Table) -> Strengths:
    """The promises to choose from about all sensitive attributes of a table at once, or about its groups."""
    prior_of = Prior.of if table.person is None else Prior.of_persons
    if len(table.sensitive) < 2:
        return suggest_strengths(prior_of(table))
    each = []
    for column in table.sensitive:
        strengths = suggest_strengths(prior_of(replace(table, sensitive=(column,))))
        if not strengths.usual.about_values:
            strengths = likeness_strengths()
        each.append([promise.naming(column.name) for promise in strengths])
    return Strengths(*map(conjunction, zip(*each, strict=True)))


def suggest_promises(table: Table) -> list[str]:
    """Promises to begin with: groups that are not too small, and one about each sensitive attribute."""
    strengths = strengths_of(table)
    rows = table.rows if table.person is None else table.persons
    groups = KAnonymity(max(1, min(SMALL, rows)))
    return list(dict.fromkeys(map(str, (groups, *strengths.usual.parts))))
