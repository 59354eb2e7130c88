"""Hierarchies to start from, made of the values of one column alone: bands, prefixes, balanced groups, the calendar."""

from __future__ import annotations

import math
import re
import tomllib
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from itertools import accumulate
from typing import Any, Literal, get_args

import numpy as np

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.options import checked
from discreet.table.column_names import names_codes
from discreet.table.date_numbers import moment, written
from discreet.table.dates import DATE
from discreet.table.hierarchy import Hierarchy
from discreet.table.hierarchy_sources import cells_of, csv_text
from discreet.table.kinds import infer
from discreet.table.numerals import numbers_of
from discreet.table.raw_column import RawColumn
from discreet.table.texts import MISSING, ROOT, is_number
from discreet.table.unnamed import OTHERS

StarterKind = Literal["ranges", "prefixes", "balanced", "dates"]
KINDS: tuple[StarterKind, ...] = get_args(StarterKind)
RECIPES = {"ranges": "intervals", "prefixes": "prefix"}
"""The kinds that a recipe of TOML makes, and what it is called there."""
COMMENTS = {
    "ranges": "The widths of the bands: each a multiple of the one before. The first band begins at origin.",
    "prefixes": "How many characters of a code are kept, ever fewer; the others become asterisks.",
}
BANDS = 20
"""About how many of the narrowest bands span the numbers."""
MOST_LEVELS = 4
"""How many lengths of prefixes there are at most."""
CODE = re.compile(r"(?=.*\d)(?!.{13})[^\W_]+([-.][^\W_]+)*")
"""What looks like a code: short, with a digit, and without blanks."""
MANY_YEARS = 20
"""From so many years on, a calendar has decades."""
MOST_DAYS = 40_000
"""How many days a calendar lists at most: more than a century."""


@dataclass(frozen=True, eq=False)
class Starter:
    """A hierarchy to start from, and the file that says it.

    >>> from discreet.table.raw_column import encode
    >>> import pyarrow as pa
    >>> starter(encode("age", pa.chunked_array([[17, 34, 92]])), None, None, True)
    Starter('age', ranges, 3 leaves)
    """

    kind: StarterKind
    why: str
    """Why it is of this kind, to follow "because"."""
    hierarchy: Hierarchy
    """The tree of the values of the column; others that the file lists are among them."""
    text: str
    """The content of the file."""
    recipe: Mapping[str, Any] | None
    """The recipe that the file holds; None if it lists the leaves."""

    def __repr__(self) -> str:
        """Show name, kind and size."""
        return f"Starter({self.hierarchy.attribute!r}, {self.kind}, {len(self.hierarchy.leaves)} leaves)"


def starter(column: RawColumn, dated: RawColumn | None, kind: StarterKind | None, as_recipe: bool | None) -> Starter:
    """Make a hierarchy to start from; ``dated`` is the column with its dates as numbers, if it holds dates.

    It is a recipe if it can be one, unless ``as_recipe`` says otherwise.
    """
    if kind is not None:
        kind = checked(argument("kind"), kind, StarterKind)
    if column.lists is not None:
        raise DiscreetError(
            f"column {column.name!r} holds lists, and a hierarchy is about single values; name another column"
        )
    texts = [text for text in column.texts if text != MISSING]
    if not texts:
        raise DiscreetError(
            f"column {column.name!r} holds no value, of which a hierarchy could be made; name another column"
        )
    Hierarchy.flat(column.name, texts)  # refuses values that mean something else in a release
    why = f"{argument('kind', kind)} says so"
    if kind is None:
        kind, why = _chosen(column, dated, texts)
    if as_recipe and kind not in RECIPES:
        raise DiscreetError(f"no recipe makes a hierarchy of the kind {kind}; name a CSV file, which lists its leaves")
    recipe = None if kind not in RECIPES else {RECIPES[kind]: _options(column, kind, texts)}
    if recipe is None:
        tree = _calendar(column, dated) if kind == "dates" else _balanced(column)
    else:
        tree = Hierarchy.of(column.name, recipe, texts)
    if recipe is not None and as_recipe is not False:
        return Starter(kind, why, tree, _toml(kind, recipe), recipe)
    return Starter(kind, why, tree, _csv(tree), None)


def _chosen(column: RawColumn, dated: RawColumn | None, texts: Sequence[str]) -> tuple[StarterKind, str]:
    """Return the kind that suits a column, and why."""
    if dated is not None:
        return "dates", "the column holds dates"
    shared = all(CODE.fullmatch(text) and not re.match(DATE, text) for text in texts) and bool(_lengths(texts))
    if infer(column) == "numeric":
        if shared and names_codes(column.name):
            return "prefixes", "its name is that of a column of codes"
        return "ranges", f"the column holds numbers; for codes say {argument('kind', 'prefixes')}"
    if shared:
        return "prefixes", "the column holds codes that begin alike"
    return "balanced", "the column holds names"


def _options(column: RawColumn, kind: str, texts: Sequence[str]) -> dict[str, Any]:
    """Return the options of a recipe for a column."""
    if kind == "ranges":
        return {"widths": _widths(column), "origin": 0}
    lengths = _lengths(texts)
    if not lengths:
        raise DiscreetError(
            f"no two values of column {column.name!r} begin alike and differ in what follows, so prefixes would group "
            f"nothing; say {argument('kind', 'balanced')}"
        )
    return {"keep": lengths}


def _toml(kind: str, recipe: Mapping[str, Mapping[str, Any]]) -> str:
    """Write a recipe, and what its options mean."""
    ((name, options),) = recipe.items()
    text = f"# {COMMENTS[kind]}\n[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in options.items())
    assert tomllib.loads(text) == recipe, text
    return text


def _csv(tree: Hierarchy) -> str:
    """Write the rows of a tree, and make sure that they are read back."""
    text, rows = csv_text(tree.rows()), tree.rows()
    if cells_of(text.removeprefix("\ufeff")) != rows:
        odd = next((cell for row in rows for cell in row if not cell.isprintable()), rows[0][0])
        raise DiscreetError(
            f"a hierarchy of {tree.attribute!r} cannot be written, because {odd!r} would be read as something else; "
            "correct it in the table"
        )
    return text


# --------------------------------------------------------------------------------------------------------------- bands


def _widths(column: RawColumn) -> list[float]:
    """Return round widths of bands, about twenty of the narrowest, each twice the one before."""
    if not _are_numbers(column):
        odd = next((text for text in column.texts if not is_number(text.strip())), column.texts[0])
        raise DiscreetError(
            f"column {column.name!r} holds {odd!r}, which is not a number, so there are no ranges; say "
            f"{argument('kind', 'balanced')}, or what stands for a missing number, as in {argument('na', ['NA'])}"
        )
    numbers = numbers_of(column).astype(np.float64)
    low, high = float(numbers.min()), float(numbers.max())
    span = (high - low) or abs(high) or 1.0
    whole = bool((numbers == np.floor(numbers)).all())
    if not math.isfinite(span) or span / BANDS < 1e-300:
        raise DiscreetError(
            f"the numbers of column {column.name!r} are too large or too small for bands; say "
            f"{argument('kind', 'balanced')}"
        )
    # a band of one whole number would be that number
    least = max(span / BANDS, 1.01) if whole else span / BANDS
    power = math.floor(math.log10(least))
    digit, power = next(
        (each, at)
        for at in (power - 1, power, power + 1)
        for each in (1, 2, 5)
        if float(f"{each}e{at}") >= least * (1 - 1e-9)
    )
    widths = [float(f"{digit * times}e{power}") for times in (1, 2, 4)]
    kept = [width for width in widths if width <= span] or widths[:1]
    return [int(width) for width in kept] if whole else kept


def _are_numbers(column: RawColumn) -> bool:
    return column.numbers is not None or all(is_number(text.strip()) for text in column.texts)


# ------------------------------------------------------------------------------------------------------------ prefixes


def _lengths(codes: Sequence[str]) -> list[int]:
    """Return the lengths of prefixes that group codes, longest first, down to the first that all share.

    >>> _lengths(["53703", "53711", "53719"]), _lengths(["a", "b"])
    ([4, 3], [])
    """
    codes = [code.strip() for code in codes]
    groups, lengths = len(set(codes)), []
    for length in range(max(map(len, codes)) - 1, 0, -1):
        left = len({(code[:length], len(code) > length) for code in codes})
        if left < groups:
            lengths.append(length)
            groups = left
    if len(lengths) > MOST_LEVELS:
        lengths = [lengths[round(at * (len(lengths) - 1) / (MOST_LEVELS - 1))] for at in range(MOST_LEVELS)]
    return lengths


# ------------------------------------------------------------------------------------------------------------ balanced


def _balanced(column: RawColumn) -> Hierarchy:
    """Group names that follow each other in the alphabet, so that groups of a level have about as many rows."""
    weights = Counter[str]()
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.texts)).tolist()
    for text, count in zip(column.texts, counts, strict=True):
        if text != MISSING:
            weights[text.strip()] += count
    numbers = all(map(is_number, weights))
    names = sorted(weights, key=lambda name: (float(name) if numbers else 0.0, name.casefold(), name))
    rows = [weights[name] for name in names]
    bounds, lines = [(0, len(names))], []
    label = _labels(names)
    for _ in range(_depth(len(names))):
        bounds = [part for low, high in bounds for part in parts(rows, low, high, _fan_out(len(names)))]
        lines.append([label(low, high) for low, high in bounds for _ in range(low, high)])
    return Hierarchy.from_rows(column.name, list(zip(names, *reversed(lines), [ROOT] * len(names), strict=True)))


def _depth(names: int) -> int:
    """Return how many levels of groups there are: none of fewer than four names, at most three."""
    return 0 if names < 4 else 1 if names < 64 else 2 if names < 256 else 3


def _fan_out(names: int) -> int:
    return math.ceil(round(math.pow(names, 1 / (_depth(names) + 1)), 9))


def parts(weights: Sequence[int], low: int, high: int, most: int) -> list[tuple[int, int]]:
    """Divide the places from ``low`` to ``high`` into parts of about as many rows: ``most``, or each place for itself.

    A place with more rows than the share of a part counts as much as one, so that the others are divided all the same.

    >>> parts([1, 1, 1, 1], 0, 4, 2), parts([1, 1, 96, 1, 1], 0, 5, 3), parts([1, 1], 0, 2, 3)
    ([(0, 2), (2, 4)], [(0, 2), (2, 3), (3, 5)], [(0, 1), (1, 2)])
    """
    number = min(most, high - low)
    share = _share(weights[low:high], number)
    ends = [0.0, *accumulate(min(weight, share) for weight in weights[low:high])]
    cuts = [low]
    for part in range(1, number):
        end = ends[-1] * part / number
        at = bisect_left(ends, end)
        at -= at > 0 and end - ends[at - 1] <= ends[at] - end
        cuts.append(min(max(low + at, cuts[-1] + 1), high - (number - part)))
    return list(zip(cuts, [*cuts[1:], high], strict=True))


def _share(weights: Sequence[int], number: int) -> float:
    """Return the share of each of so many parts, when what is heavier than a share counts as one.

    >>> _share([10, 10, 20], 2), _share([1, 96, 2, 1], 3)
    (20.0, 2.0)
    """
    rest = sum(weights)
    for taken, weight in enumerate(sorted(weights, reverse=True)[: number - 1]):
        if weight * (number - taken) <= rest:
            return rest / (number - taken)
        rest -= weight
    return float(rest)


def _labels(names: Sequence[str]) -> Callable[[int, int], str]:
    """Return what names a group by its first and last name; no two groups get one label, and none that of a name."""
    taken, given = {*names, ROOT, OTHERS, MISSING}, dict[tuple[int, int], str]()

    def label(low: int, high: int) -> str:
        if high - low == 1:
            return names[low]
        if (low, high) not in given:
            plain = text = f"{names[low]} to {names[high - 1]}"
            number = 1
            while text in taken:
                number += 1
                text = f"{plain} ({number})"
            taken.add(text)
            given[low, high] = text
        return given[low, high]

    return label


# ------------------------------------------------------------------------------------------------------------ calendar


def _calendar(column: RawColumn, dated: RawColumn | None) -> Hierarchy:
    """Group dates by month, quarter and year, times by day as well, and many years by decade."""
    if dated is None or dated.numbers is None:
        raise DiscreetError(
            f"column {column.name!r} holds no dates that are recognised; say their form, as in "
            f"{argument('dates', {column.name: '%d.%m.%Y'})}, or choose another kind"
        )
    numbers = {text.strip(): number for text, number in zip(column.texts, dated.numbers.tolist(), strict=True)}
    days = _all_days(column, numbers) if dated.notation == "date" else None
    leaves = sorted((numbers if days is None else days).items(), key=lambda item: (item[1], item[0]))
    first, last = (int(written(leaves[at][1], dated.notation)[:4]) for at in (0, -1))
    rows = []
    for text, number in leaves:
        day = written(number, dated.notation)[:10]
        quarter = f"{day[:4]}-Q{(int(day[5:7]) + 2) // 3}"
        above = (day, day[:7]) if dated.notation == "datetime" else (day[:7],)
        decade = (f"{day[:3]}0s",) if last - first >= MANY_YEARS else ()
        rows.append((text, *above, quarter, day[:4], *decade, ROOT))
    return Hierarchy.from_rows(column.name, rows)


def _all_days(column: RawColumn, numbers: Mapping[str, float]) -> dict[str, float] | None:
    """Return every day of the years of a column, so that the file does not say which occur; None if that cannot be.

    Days are written as the column writes them, which must be one way.
    """
    first, last = (int(written(number, "date")[:4]) for number in (min(numbers.values()), max(numbers.values())))
    low, high = int(moment(f"{first:04}-01-01", "date")), int(moment(f"{last:04}-12-31", "date"))
    if high - low >= MOST_DAYS or first < 1000:
        return None
    for write in _writers(next(iter(numbers))):
        if all(write(number) == text for text, number in numbers.items()):
            return {write(day): float(day) for day in range(low, high + 1)}
    return None


def _writers(text: str) -> Iterator[Callable[[float], str]]:
    """Yield the ways in which dates may be written like this one: days and months with a zero before them, or without.

    >>> [write(0) for write in _writers("7.3.2021")][:2]
    ['1970.01.01', '1970.1.1']
    """
    mark = next((sign for sign in text if not sign.isdigit()), "")
    for order in ("%Y %m %d", "%d %m %Y", "%m %d %Y", "%d %m %y", "%m %d %y"):
        form = mark.join(order.split())
        yield partial(_day_text, form, False)
        yield partial(_day_text, form, True)


def _day_text(form: str, short: bool, day: float) -> str:
    """Write a day since the start of 1970 in a form, ``short`` without zeros at the beginning of numbers."""
    text = (datetime(1970, 1, 1) + timedelta(day)).strftime(form)
    return re.sub(r"\b0", "", text) if short else text
