"""Where hierarchies come from: CSV with the leaf first, TOML, nested mappings, recipes for intervals and prefixes."""

from __future__ import annotations

import csv
import io
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

from discreet.errors import DiscreetError
from discreet.table.detect import decode
from discreet.table.documents import toml
from discreet.table.hierarchy_faults import Fault, refuse
from discreet.table.paths import content, located
from discreet.table.texts import ROOT, canonical, is_number, number_text, value_text

DELIMITERS = ";,\t"
NAMES = ("hierarchy_{}.csv", "hierarchy_{}.toml", "{}.csv", "{}.toml")
"""The possible names of a column's file in a folder of hierarchies; the first that exists is used."""
DEFAULTS: dict[str, dict[str, Any]] = {"intervals": {"widths": [5, 10, 20], "origin": 0}, "prefix": {"keep": [4, 3, 2]}}
"""The recipes, with their options and the values of these that are not given."""


@dataclass(frozen=True)
class Offered:
    """A file found in a folder of hierarchies: used for its column unless that is numeric.

    Numbers are published as intervals, which lose less information than labels. To have labels for a numeric column,
    the user names the file for that column.
    """

    path: Path


def offered(folder: str | PathLike[str], columns: Iterable[str]) -> dict[str, Offered]:
    """Return the hierarchy files that a folder contains for these columns.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "hierarchy_sex.csv").write_text("f;*\\nm;*\\n")
    ...     print({name: offer.path.name for name, offer in offered(folder, ["age", "sex"]).items()})
    {'sex': 'hierarchy_sex.csv'}
    """
    home, wanted = located(folder), list(columns)
    if not home.is_dir():
        raise DiscreetError(f"there is no folder of hierarchies '{home}'; check the path")
    offers = {}
    for name in wanted:
        paths = (home / pattern.format(name) for pattern in NAMES)
        path = next((path for path in paths if path.is_file()), None)
        if path is not None:
            offers[name] = Offered(path)
    if not offers:
        raise DiscreetError(
            f"the folder '{home}' holds no hierarchy of any of the columns {', '.join(map(repr, wanted))}; "
            f"call the file of a column {NAMES[0].format('NAME')} or {NAMES[2].format('NAME')}"
        )
    return offers


def source_rows(attribute: str, source: Any, values: Iterable[Any] | None) -> list[tuple[str, ...]]:
    """Return leaf-first rows from a path or a mapping; recipes, ``[intervals]`` and ``[prefix]``, need the ``values``.

    >>> source_rows("sex", {"f": {}, "m": {}}, None), source_rows("zip", {"prefix": {"keep": [1]}}, ["12"])
    ([('f',), ('m',)], [('12', '1*', '*')])
    """
    if isinstance(source, (str, PathLike)) and not _is_toml(source):
        return _csv_rows(attribute, Path(source), () if values is None else values)
    mapping = _mapping(attribute, source)
    recipe = _recipe(attribute, mapping)
    if recipe is None:
        return _nested_rows(attribute, mapping)
    name, options = recipe
    if values is None:
        raise DiscreetError(
            f"the hierarchy of {attribute!r} is made of {name} and needs the values of the column; "
            "pass values= or let read() apply it"
        )
    try:
        return (_interval_rows if name == "intervals" else _prefix_rows)(
            attribute, values, **{**DEFAULTS[name], **options}
        )
    except OverflowError:
        raise DiscreetError(
            f"the intervals of {attribute!r} have widths that its numbers do not fit into; choose others"
        ) from None


def lists_leaves(attribute: str, source: Any) -> bool:
    """Whether a source lists its leaves itself; a recipe takes them from the column's values.

    >>> lists_leaves("sex", {"f": {}, "m": {}}), lists_leaves("zip", {"prefix": {"keep": [3]}})
    (True, False)
    """
    if isinstance(source, (str, PathLike)) and not _is_toml(source):
        return True
    return not isinstance(source, (str, PathLike, Mapping)) or _recipe(attribute, _mapping(attribute, source)) is None


def recipe_of(attribute: str, source: Any) -> dict[str, dict[str, Any]] | None:
    """Return the recipe that a source is, with all its options; None if the source lists its leaves.

    >>> recipe_of("age", {"intervals": {}}), recipe_of("sex", {"f": {}, "m": {}})
    ({'intervals': {'widths': [5, 10, 20], 'origin': 0}}, None)
    """
    if lists_leaves(attribute, source):
        return None
    recipe = _recipe(attribute, _mapping(attribute, source))
    assert recipe is not None, "a source either lists its leaves or is a recipe"
    name, options = recipe
    given = {key: list(value) if isinstance(value, tuple) else value for key, value in options.items()}
    return {name: {**DEFAULTS[name], **given}}


def interval_named(label: str) -> tuple[float, float] | None:
    """Return the smallest and largest number of an interval by its label in a recipe; None if it is no such label.

    >>> interval_named("15 to 19"), interval_named("0.5 to below 1"), interval_named("north")
    ((15.0, 19.0), (0.5, 0.9999999999999999), None)
    """
    low, to, high = label.partition(" to ")
    below = high.startswith("below ")
    high = high.removeprefix("below ")
    if not to or not (is_number(low) and is_number(high)):
        return None
    return float(low), math.nextafter(float(high), -math.inf) if below else float(high)


def _is_toml(path: str | PathLike[str]) -> bool:
    return Path(path).suffix.lower() == ".toml"


def _mapping(attribute: str, source: Any) -> Mapping[str, Any]:
    if isinstance(source, (str, PathLike)):
        return toml(_text(attribute, Path(source)), f"the hierarchy of {attribute!r} in '{source}'")
    if not isinstance(source, Mapping):
        raise DiscreetError(
            f"the hierarchy of {attribute!r} is a {type(source).__name__}; give a path, a mapping or a Hierarchy"
        )
    return source


def _recipe(attribute: str, mapping: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Return the name and options of a recipe; None if the mapping is a tree."""
    if len(mapping) != 1:
        return None
    name, options = next(iter(mapping.items()))
    if name not in DEFAULTS or not isinstance(options, Mapping):
        return None
    known = set(DEFAULTS[name])
    # A tree may have a node of that name: a non-empty table is a recipe only if it contains one of its options.
    if options and not known & set(options):
        return None
    for option in options:
        if option not in known:
            raise DiscreetError(
                f"the hierarchy of {attribute!r} has the unknown option {option!r} under [{name}]; "
                f"it takes {' and '.join(sorted(known))}"
            )
    return name, dict(options)


def _csv_rows(attribute: str, path: Path, values: Iterable[Any]) -> list[tuple[str, ...]]:
    """Read the rows of a CSV hierarchy; a first row that looks like a header, judged by ``values``, is refused."""
    rows = csv_lines(attribute, path)
    refuse(header_faults(attribute, path, rows, values))
    return rows


def csv_lines(attribute: str, path: Path) -> list[tuple[str, ...]]:
    """Return the cells of each line of a CSV hierarchy, a header included."""
    return cells_of(_text(attribute, path))


def header_faults(
    attribute: str, path: Path, rows: Sequence[tuple[str, ...]], values: Iterable[Any]
) -> Iterator[Fault]:
    """Yield that the first row looks like a header, if it does so beside the ``values`` of the column."""
    if _is_header(attribute, rows, {value_text(value).strip() for value in values}):
        sentence = (
            f"the first line of the hierarchy of {attribute!r} in '{path}' looks like a header, since it begins with "
            f"{rows[0][0]!r}, which is not a value of the column; delete it, or move it down if it is one"
        )
        yield Fault("header", sentence, rows[0][0])


def csv_text(rows: Iterable[Sequence[str]]) -> str:
    """Write the rows of a hierarchy as ``cells_of`` reads them.

    >>> csv_text([("Bonn", "West"), ("Paris; Texas", "US")])
    'Bonn;West\\n"Paris; Texas";US\\n'
    """
    rows, text = list(rows), io.StringIO(newline="")
    odd = any("\r" in cell for row in rows for cell in row)  # which is read back within quotes only
    writer = csv.writer(
        text,
        delimiter=DELIMITERS[0],
        lineterminator="\n",
        quoting=csv.QUOTE_ALL if odd else csv.QUOTE_MINIMAL,
    )
    writer.writerows(rows)
    return text.getvalue()


def _is_header(attribute: str, rows: Sequence[tuple[str, ...]], values: Collection[str]) -> bool:
    """Whether the first row names the levels: by its first cell, or because its labels stand nowhere else.

    >>> rows = [("leaf", "region", "all"), ("a", "north", "*"), ("b", "north", "*")]
    >>> _is_header("town", rows, {"a", "b"}), _is_header("town", rows, {"leaf", "a", "b"})
    (True, False)

    A number names no level: it is a leaf that does not occur.
    """
    if not rows or rows[0][0] in values or is_number(rows[0][0]):
        return False
    if rows[0][0].casefold() == attribute.strip().casefold():
        return True
    labels = Counter(label for row in rows[1:] for label in row[1:])
    return bool(values) and max(labels.values(), default=0) > 1 and not labels.keys() & set(rows[0])


def cells_of(text: str) -> list[tuple[str, ...]]:
    """Split the lines of a CSV hierarchy into cells by the delimiter that gives all lines equally many."""
    readings = {}
    for delimiter in DELIMITERS:
        try:
            rows = [
                tuple(cell.strip() for cell in row)
                for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
                if any(cell.strip() for cell in row)
            ]
        except csv.Error:
            continue
        if rows and len(rows[0]) > 1 and all(len(row) == len(rows[0]) for row in rows):
            return rows
        readings[delimiter] = rows
    # No delimiter fits all lines: return the most likely split, in which later checks will find the fault.
    likely = next((delimiter for delimiter in DELIMITERS if delimiter in text and delimiter in readings), None)
    return readings[likely] if likely else [(line.strip(),) for line in text.splitlines() if line.strip()]


def _text(attribute: str, path: Path) -> str:
    what = f"'{path}' for the hierarchy of {attribute!r}"
    return decode(content(located(path), what), None, what)


def _nested_rows(attribute: str, mapping: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Flatten nested mappings, whose innermost members are lists of leaves, or leaves mapped to nothing."""
    rows: list[tuple[str, ...]] = []

    def walk(members: Mapping[str, Any], above: tuple[str, ...], entered: tuple[int, ...]) -> None:
        if id(members) in entered:
            raise DiscreetError(
                f"the hierarchy of {attribute!r} has a cycle: {above[0]!r} is its own ancestor; write the tree out"
            )
        for key, inner in members.items():
            label = value_text(key)
            if isinstance(inner, Mapping) and inner:
                walk(inner, (label, *above), (*entered, id(members)))
            elif isinstance(inner, (list, tuple)) and inner:
                for leaf in inner:
                    if not isinstance(leaf, (str, int, float)):
                        raise DiscreetError(
                            f"the hierarchy of {attribute!r} lists {leaf!r} under {label!r}, which is not a plain "
                            "value; list texts or numbers there"
                        )
                    rows.append((value_text(leaf), label, *above))
            elif isinstance(inner, (Mapping, list, tuple)) or inner is None:
                rows.append((label, *above))
            else:
                raise DiscreetError(
                    f"the hierarchy of {attribute!r} maps {label!r} to {inner!r}; "
                    "map it to a table, a list of leaves, or nothing"
                )

    walk(mapping, (), ())
    return rows


def _interval_rows(
    attribute: str, values: Iterable[Any], widths: Sequence[float], origin: float
) -> list[tuple[str, ...]]:
    """Return leaf-first rows that place every number below its intervals, and those below ``*``."""
    steps = _steps(attribute, widths, origin)
    numbers: dict[float, str] = {}
    for value in values:
        text = canonical(value_text(value))
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise DiscreetError(
                f"the intervals of {attribute!r} cannot hold the value {text!r}, which is not a finite number; "
                "correct it, or give another hierarchy"
            )
        numbers.setdefault(number, text)
    whole = all(float(number).is_integer() for number in (*numbers, *widths, origin))
    rows = []
    for number, text in sorted(numbers.items()):
        row = [text]
        place = _place((number - origin) / widths[0])
        for width, step in zip(widths, steps, strict=True):
            # The coarser interval is derived from the finer one, so that rounding never splits a node.
            place //= step
            low = origin + place * width
            row.append(_interval_text(low, low + width, whole))
        rows.append((*row, ROOT))
    return rows


def _place(ratio: float) -> int:
    # 0.3 / 0.1 is slightly below 3 in floating point, yet 0.3 starts interval 3 and does not lie in interval 2.
    nearest = round(ratio)
    return nearest if abs(ratio - nearest) <= 1e-12 * max(1.0, abs(ratio)) else math.floor(ratio)


def _steps(attribute: str, widths: Sequence[float], origin: float) -> list[int]:
    numbers = [*widths, origin] if isinstance(widths, Sequence) else [widths]
    if len(numbers) < 2 or not all(isinstance(number, (int, float)) and math.isfinite(number) for number in numbers):
        raise DiscreetError(f"the intervals of {attribute!r} need widths such as [5, 10, 20], not {widths!r}")
    if widths[0] <= 0:
        raise DiscreetError(f"the intervals of {attribute!r} have the width {widths[0]}; widths must be positive")
    steps = [1]
    for finer, coarser in pairwise(widths):
        step = round(coarser / finer)
        if step < 2 or abs(coarser / finer - step) > 1e-9:
            raise DiscreetError(
                f"the intervals of {attribute!r} do not nest: the width {coarser} is not a multiple of {finer}; "
                "let every width be a multiple of the one before"
            )
        steps.append(step)
    return steps


def _interval_text(low: float, high: float, whole: bool) -> str:
    if not whole:
        # Twelve digits hide rounding errors such as that of 3 * 0.1; narrow intervals of large numbers need more.
        texts = [f"{end:.12g}" for end in (low, high)]
        near = all(abs(float(text) - end) < 1e-6 * (high - low) for text, end in zip(texts, (low, high), strict=True))
        return " to below ".join(texts if near else map(repr, (low, high)))
    return number_text(low) if high - low == 1 else f"{number_text(low)} to {number_text(high - 1)}"


def _prefix_rows(attribute: str, values: Iterable[Any], keep: Sequence[int]) -> list[tuple[str, ...]]:
    """Mask the ends of codes ever further; codes no longer than the kept prefix stay unmasked."""
    lengths = list(keep) if isinstance(keep, Sequence) else []
    if not lengths or not all(type(length) is int and length >= 1 for length in lengths):
        raise DiscreetError(f"the prefixes of {attribute!r} need lengths to keep such as [4, 3, 2], not {keep!r}")
    if any(later >= earlier for earlier, later in pairwise(lengths)):
        raise DiscreetError(f"the prefixes of {attribute!r} must get shorter from level to level, not {lengths}")
    codes = sorted({value_text(value) for value in values})
    longest = max(map(len, codes), default=0)
    masks = [(length, "*" * (longest - length)) for length in lengths]
    return [
        (code, *(code if len(code) <= length else code[:length] + mask for length, mask in masks), ROOT)
        for code in codes
    ]
