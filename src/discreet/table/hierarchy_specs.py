"""Hierarchies given as nested mappings, or by recipes: intervals of numbers and prefixes of codes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from discreet.errors import DiscreetError
from discreet.table.hierarchy_rows import ROOT
from discreet.table.texts import canonical, number_text, value_text

OPTIONS = {"intervals": {"widths", "origin"}, "prefix": {"keep"}}


def specification(attribute: str, mapping: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Return the name and options of a recipe; None if the mapping is a tree.

    >>> specification("age", {"intervals": {"widths": [5, 10]}})
    ('intervals', {'widths': [5, 10]})
    >>> specification("sex", {"f": {}, "m": {}}) is None
    True
    """
    if len(mapping) != 1:
        return None
    name, options = next(iter(mapping.items()))
    if name not in OPTIONS or not isinstance(options, Mapping):
        return None
    known = OPTIONS[name]
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


def nested_rows(attribute: str, mapping: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Flatten nested mappings to leaf-first rows; innermost members are lists of leaves, or leaves mapped to nothing.

    >>> nested_rows("x", {"A": {"B": ["a", "b"]}})
    [('a', 'B', 'A'), ('b', 'B', 'A')]
    """
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
                            f"the hierarchy of {attribute!r} lists {leaf!r} under {label!r}, which is no plain value; "
                            "list texts or numbers there"
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


def interval_rows(
    attribute: str, values: Iterable[Any], widths: Sequence[float], origin: float
) -> list[tuple[str, ...]]:
    """Return leaf-first rows that place every number below its intervals, and those below ``*``.

    >>> interval_rows("age", [17], [5, 10], 0)
    [('17', '15 to 19', '10 to 19', '*')]
    >>> interval_rows("dose", [0.3], [0.5], 0)
    [('0.3', '0 to below 0.5', '*')]
    """
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
                f"the intervals of {attribute!r} cannot hold the value {text!r}, which is no finite number; "
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
    if len(numbers) < 2 or not all(isinstance(one, (int, float)) and math.isfinite(one) for one in numbers):
        raise DiscreetError(f"the intervals of {attribute!r} need widths such as [5, 10, 20], not {widths!r}")
    if widths[0] <= 0:
        raise DiscreetError(f"the intervals of {attribute!r} have the width {widths[0]}; widths must be positive")
    steps = [1]
    for finer, coarser in pairwise(widths):
        step = round(coarser / finer)
        if step < 2 or abs(coarser / finer - step) > 1e-9:
            raise DiscreetError(
                f"the intervals of {attribute!r} do not nest: the width {coarser} is no multiple of {finer}; "
                "let every width be a multiple of the one before"
            )
        steps.append(step)
    return steps


def _interval_text(low: float, high: float, whole: bool) -> str:
    if not whole:
        # Twelve digits are more than any width needs, and hide rounding errors such as that of 3 * 0.1.
        return f"{low:.12g} to below {high:.12g}"
    return number_text(low) if high - low == 1 else f"{number_text(low)} to {number_text(high - 1)}"


def prefix_rows(attribute: str, values: Iterable[Any], keep: Sequence[int]) -> list[tuple[str, ...]]:
    """Return leaf-first rows that mask a code's end ever further; codes no longer than the kept prefix stay unmasked.

    >>> prefix_rows("zip", ["12345", "99"], [4, 1])
    [('12345', '1234*', '1****', '*'), ('99', '99', '9****', '*')]
    """
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
