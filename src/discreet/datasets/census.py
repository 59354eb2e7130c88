"""Generates census-like tables of any size from a seed.

Attributes, cardinalities and the skew of the sensitive attribute are those of the CENSUS table in two papers: Table 3
of "Publishing Microdata with a Robust Privacy Guarantee" (salary class is sensitive) and Table 10 of "One-off
Disclosure Control by Heterogeneous Generalization" (occupation is sensitive). The rows are invented.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.datasets import model
from discreet.datasets import vocabulary as words
from discreet.errors import DiscreetError
from discreet.options import fitting
from discreet.table.hierarchy import Hierarchy
from discreet.table.table import Column, Table

if TYPE_CHECKING:
    import pyarrow as pa

ATTRIBUTES = (
    *("age", "gender", "education", "marital", "race", "work_class", "country"),
    *("occupation", "salary", "income"),
)
"""All attributes; their positions also seed their random streams, so new attributes must be added at the end."""
LIKENESS_QUASI = ("age", "gender", "education", "marital", "work_class")
"""The quasi-identifiers of the beta-likeness paper, in its order; its experiments use the first three by default."""
HETEROGENEOUS_QUASI = ("age", "gender", "education", "marital", "race", "work_class", "country")
"""The quasi-identifiers of the heterogeneous generalization paper, in its order."""
DOMAINS = {
    "age": (float(words.FIRST_AGE), float(words.LAST_AGE)),
    "education": (1.0, float(words.EDUCATION_LEVELS)),
    "salary": (1.0, float(len(words.SALARY_SHARES))),
}
"""The declared domains of the numeric attributes (income has none: its domain is the observed range)."""

Codes = NDArray[np.int32]

_DOLLARS = 10
_TOP_INCOME = 2_000_000


def census(
    rows: int,
    *,
    quasi: Sequence[str] = LIKENESS_QUASI[:3],
    sensitive: str | None = "salary",
    seed: int = 0,
) -> Table:
    """Generate a table of ``rows`` invented people with the attributes in the given roles.

    ``age`` (79 values), ``education`` (17 levels), ``salary`` (50 classes) and ``income`` (dollars a year) are numeric;
    ``gender`` (2), ``marital`` (6), ``race`` (9), ``work_class`` (10), ``country`` (83) and ``occupation`` (51) are
    categorical with the hierarchies of `census_hierarchies`. The same ``rows`` and ``seed`` always generate the same
    people, whichever attributes are requested.

    >>> table = census(1000, quasi=["age", "gender"], sensitive="occupation")
    >>> table.rows, [column.name for column in table.quasi], len(table.sensitive_attribute.values)
    (1000, ['age', 'gender'], 51)
    """
    if isinstance(quasi, str):
        raise DiscreetError(f"quasi is the text {quasi!r}; give a list of attribute names such as ['{quasi}']")
    wanted = [*quasi, *([sensitive] if sensitive is not None else [])]
    people = _People(rows, seed)
    columns = [_column(name, people[name]) for name in wanted]
    return Table(
        rows=people.rows,
        quasi=tuple(columns[: len(quasi)]),
        sensitive=(columns[-1],) if sensitive is not None else (),
    )


def census_arrow(rows: int, seed: int = 0, *, attributes: Sequence[str] = ATTRIBUTES) -> pa.Table:
    """Generate the same people as plain values in an Arrow table.

    >>> census_arrow(3, attributes=["age", "gender"]).column_names
    ['age', 'gender']
    """
    import pyarrow as pa

    people = _People(rows, seed)
    arrays = {}
    for name in attributes:
        codes = people[name]
        if name in _hierarchies():
            arrays[name] = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(_hierarchies()[name].leaves))
        else:
            arrays[name] = pa.array(_numbers(name, codes))
    return pa.table(arrays)


def census_hierarchies() -> dict[str, Hierarchy]:
    """Return the hierarchies of the categorical attributes.

    >>> {name: hierarchy.height for name, hierarchy in census_hierarchies().items()}
    {'gender': 1, 'marital': 2, 'race': 2, 'work_class': 3, 'country': 2, 'occupation': 2}
    """
    return dict(_hierarchies())


@cache
def _hierarchies() -> dict[str, Hierarchy]:
    nested: dict[str, words.Nested] = {
        "marital": words.MARITAL,
        "race": words.RACE,
        "work_class": words.WORK_CLASS,
        "country": words.COUNTRY,
    }
    trees = {name: Hierarchy.of(name, values) for name, values in nested.items()}
    occupations = [(occupation.name, occupation.group) for occupation in words.occupations()]
    trees["occupation"] = Hierarchy.from_rows("occupation", occupations)
    return {"gender": Hierarchy.flat("gender", words.GENDER), **trees}


class _People:
    """The codes of each attribute, drawn on first use, each from a random stream of its own."""

    def __init__(self, rows: int, seed: int) -> None:
        self.rows = _whole("rows", rows, least=1)
        self._seed = _whole("seed", seed, least=0)
        self._drawn: dict[str, Codes] = {}

    def __getitem__(self, name: str) -> Codes:
        if name not in ATTRIBUTES:
            raise DiscreetError(f"the census table has no attribute {name!r}; it has {', '.join(ATTRIBUTES)}")
        if name not in self._drawn:
            rng = np.random.default_rng([ATTRIBUTES.index(name), self._seed])
            if name in ("salary", "income"):
                self._drawn[name] = self._salary(rng) if name == "salary" else self._income(rng)
            else:
                self._drawn[name] = _slots(name).draw(rng, self._condition(name))
        return self._drawn[name]

    def _condition(self, name: str) -> Codes:
        """What an attribute depends on, as ``model`` lists its distributions."""
        if name in ("education", "marital"):
            return self["age"] * 2 + self["gender"]
        if name == "country":
            return self["race"] * 3 + model.AGE_STEP[self["age"]]
        if name == "work_class":
            return (self["age"] * 2 + self["gender"]) * 5 + model.EDUCATION_STEP[self["education"]]
        if name == "occupation":
            return (self["education"] * 2 + self["gender"]) * 10 + self["work_class"]
        return np.zeros(self.rows, dtype=np.int32)

    def _salary(self, rng: np.random.Generator) -> Codes:
        score = rng.standard_normal(self.rows, dtype=np.float32)
        score *= np.float32(model.NOISE)
        person = (self["age"] * words.EDUCATION_LEVELS + self["education"]) * 2 + self["gender"]
        score += model.score_by_person().ravel()[person]
        score += model.score_by_job().ravel()[self["occupation"] * 10 + self["work_class"]]
        return deal(score, quotas(self.rows, words.SALARY_SHARES, rng))

    def _income(self, rng: np.random.Generator) -> Codes:
        """Draw incomes in units of ten dollars: many round figures, some zeros, a heavy tail in the highest class."""
        salary = self["salary"]
        spread = rng.standard_normal(self.rows, dtype=np.float32)
        spread *= np.float32(0.15)
        dollars = np.exp(spread, out=spread)
        dollars *= model.usual_income()[salary]
        top = np.flatnonzero(salary == salary.dtype.type(len(words.SALARY_SHARES) - 1))
        dollars[top] *= 1 + rng.pareto(1.5, len(top)).astype(np.float32)
        np.minimum(dollars, np.float32(_TOP_INCOME), out=dollars)
        round_to = Conditional.of([0.1, 0.3, 0.2, 0.4]).draw(rng, np.zeros(self.rows, dtype=np.int32))
        grain = np.array([1, 10, 50, 100], dtype=np.float32)[round_to]
        dollars /= grain * np.float32(_DOLLARS)
        np.rint(dollars, out=dollars)
        dollars *= grain
        tens = dollars.astype(np.int32)
        tens[rng.random(self.rows, dtype=np.float32) < model.no_income().astype(np.float32)[salary]] = 0
        return tens


@cache
def _slots(name: str) -> Conditional:
    plain = {"gender": np.array([0.51, 0.49]), "race": np.array(words.RACE_SHARES)}
    weights: NDArray[np.float64] = plain[name] if name in plain else getattr(model, name)()
    return Conditional.of(weights.reshape(-1, weights.shape[-1]))


def _column(name: str, codes: Codes) -> Column:
    if name in _hierarchies():
        hierarchy = _hierarchies()[name]
        values = np.array(hierarchy.leaves, dtype=object)
        return Column(name, "categorical", codes, values, hierarchy, declared_values=True)
    # A numeric attribute lists only the numbers that occur, as if read from a file.
    present = np.flatnonzero(np.bincount(codes)).astype(np.int32)
    values = _numbers(name, present)
    if present[-1] >= len(present):
        place = np.zeros(present[-1] + 1, dtype=np.int32)
        place[present] = np.arange(len(present), dtype=np.int32)
        codes = place[codes]
    domain = DOMAINS.get(name, (float(values[0]), float(values[-1])))
    return Column(name, "numeric", codes, values, domain=domain, declared_domain=name in DOMAINS)


def _numbers(name: str, codes: Codes) -> NDArray[np.int64]:
    """Convert the codes of a numeric attribute to its numbers."""
    if name == "income":
        return codes.astype(np.int64) * _DOLLARS
    return codes.astype(np.int64) + int(DOMAINS[name][0])


def _whole(name: str, number: Any, least: int) -> int:
    try:
        whole: int = fitting(number, int)
    except ValueError:
        whole = least - 1
    if whole < least:
        raise DiscreetError(f"{name} is {number!r}; a census table needs a whole number of at least {least}")
    return whole


# ------------------------------------------------------------------------------------------------------------ drawing


@dataclass(frozen=True, eq=False)
class Conditional:
    """Distributions over the same values, one per condition, from which a row is drawn in constant time.

    Walker's alias method: every value has a slot of equal width; the fraction ``keep`` of the slot is its own, the rest
    belongs to the value ``other``.

    >>> coin = Conditional.of([[1, 3], [1, 0]])
    >>> draws = coin.draw(np.random.default_rng(0), np.repeat([0, 1], 1000))
    >>> bool(0.7 < draws[:1000].mean() < 0.8), int(draws[1000:].max())
    (True, 0)
    """

    keep: NDArray[np.float64]
    other: Codes

    @classmethod
    def of(cls, weights: ArrayLike) -> Conditional:
        """Build the slots from weights, one row per condition; rows need not sum to one."""
        share = np.array(weights, dtype=np.float64, ndmin=2)
        conditions, values = share.shape
        share *= values / share.sum(axis=1, keepdims=True)
        keep = np.ones_like(share)
        other = np.zeros(share.shape, dtype=np.int32)
        full = np.zeros(share.shape, dtype=np.bool_)
        row = np.arange(conditions)
        for _ in range(values):
            # The shares of open slots average to one slot: the smallest fits into its slot, the largest fills the rest.
            poorest = np.where(full, np.inf, share).argmin(axis=1)
            richest = np.where(full, -np.inf, share).argmax(axis=1)
            keep[row, poorest] = share[row, poorest]
            other[row, poorest] = richest
            share[row, richest] -= 1 - share[row, poorest]
            full[row, poorest] = True
        return cls(keep, other)

    def draw(self, rng: np.random.Generator, condition: NDArray[np.integer]) -> Codes:
        """Draw one value per row from the distribution of the row's condition."""
        values = self.keep.shape[1]
        place = rng.random(len(condition))
        place *= values
        slot = place.astype(np.int32)
        place -= slot
        index = condition.astype(np.int64)
        index *= values
        index += slot
        return np.where(place < self.keep.ravel()[index], slot, self.other.ravel()[index])


def quotas(rows: int, shares: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Split ``rows`` in proportion to integer ``shares``, each part less than one row from its exact size.

    Rounds cumulative sizes from a random start: the result is exact if the exact sizes are whole numbers, and unbiased
    even with fewer rows than parts.

    >>> quotas(10, np.array([1, 3, 1]), np.random.default_rng(0)).tolist()
    [2, 6, 2]
    """
    total = int(shares.sum())
    ends = (rows * np.cumsum(shares) + int(rng.integers(total))) // total
    return np.diff(ends, prepend=0)


def deal(score: NDArray[np.float32], counts: NDArray[np.int64]) -> Codes:
    """Assign value 0 to the rows with the lowest ``score``, value 1 to the next ones, and so on, by exact counts.

    >>> deal(np.array([0.5, 0.1, 0.9], dtype=np.float32), np.array([2, 1])).tolist()
    [0, 0, 1]
    """
    dealt = np.empty(len(score), dtype=np.int32)
    dealt[np.argsort(score, kind="stable")] = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return dealt
