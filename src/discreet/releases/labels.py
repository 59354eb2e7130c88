"""The published text of a generalized value, and how it is read back.

======================  ==========================================================================================
``17``, ``Male``        one value
``[17, 24]``            every number, or every value of an ordered attribute, from 17 to 24
``Higher education``    every value below this node of the attribute's hierarchy
``{Divorced, Widowed}`` these values
``(missing)``           only missing values (numeric and ordinal attributes)
``*``                   anything, missing values included
======================  ==========================================================================================

A value that contains one of ``,{}[]"*``, or begins or ends with a blank, is written as a JSON string, so that every
text has one meaning.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.releases.attributes import Attribute
from discreet.table.date_numbers import Notation, moment, written
from discreet.table.floors import Cells
from discreet.table.hierarchy import Hierarchy
from discreet.table.hierarchy_sources import interval_named
from discreet.table.texts import MISSING, NUMBER
from discreet.table.unnamed import is_unnamed

ANYTHING = "*"
SPECIAL = frozenset(',{}[]"*')
_number = re.compile(NUMBER)


class Regions(NamedTuple):
    """The values that each distinct text of one attribute admits, as numbers (numeric) or ranks of its values."""

    low: NDArray[np.float64]
    """The smallest number or rank admitted; above ``high`` if only missing values are admitted."""
    high: NDArray[np.float64]
    missing: NDArray[np.bool_]
    """Whether missing values are admitted."""
    whole: NDArray[np.bool_]
    """Whether the text admits anything, as ``*`` does."""
    sets: dict[int, NDArray[np.int64]]
    """The ranks admitted by each text whose ranks have gaps."""


# ------------------------------------------------------------------------------------------------------------ writing


def quoted(value: str) -> str:
    """A single value as published: a JSON string if it could be mistaken for something else.

    >>> quoted("Sales"), quoted("Paris, Texas")
    ('Sales', '"Paris, Texas"')
    """
    if not value or value != value.strip() or not SPECIAL.isdisjoint(value):
        return json.dumps(value, ensure_ascii=False)
    return value


def interval(low: str, high: str) -> str:
    """The text for all values from one to another.

    Ends that are cells give their own outer ends.

    >>> interval("17", "24"), interval("17", "17"), interval("[35, 39]", "[40, 44]")
    ('[17, 24]', '17', '[35, 44]')
    """
    if low == high:
        return low
    if low.startswith("[") and high.startswith("["):
        low, high = low[1:].partition(", ")[0], high[:-1].rpartition(", ")[2]
    return f"[{low}, {high}]"


def braces(values: Sequence[str]) -> str:
    """The text for exactly these values.

    >>> braces(["Divorced", "Widowed"]), braces(["Divorced"])
    ('{Divorced, Widowed}', 'Divorced')
    """
    texts = [quoted(value) for value in values]
    return texts[0] if len(texts) == 1 else "{" + ", ".join(texts) + "}"


class Nodes:
    """The labels of a hierarchy as published texts, each with the range of leaves below its node.

    If two nodes have the same label, the one nearer the leaves keeps it, and the other is published as the set of its
    leaves. So is a node whose label could be mistaken for something else.
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        """Collect the labels level by level, leaves first."""
        self.hierarchy = hierarchy
        self.leaves = {leaf: rank for rank, leaf in enumerate(hierarchy.leaves)}
        self.ranges: dict[str, tuple[int, int]] = {}
        self.spans: list[tuple[list[int], list[int]]] = []
        for labels, nodes in zip(hierarchy.labels, hierarchy.ancestors, strict=True):
            first = np.searchsorted(nodes, np.arange(len(labels)), side="left").tolist()
            last = (np.searchsorted(nodes, np.arange(len(labels)), side="right") - 1).tolist()
            self.spans.append((first, last))
            for label, low, high in zip(labels, first, last, strict=True):
                self.ranges.setdefault(label, (low, high))

    def text(self, level: int, node: int) -> str:
        """The published text of a node."""
        low, high = self.spans[level][0][node], self.spans[level][1][node]
        leaves = self.hierarchy.leaves
        if low == high:
            return quoted(leaves[low])
        label = self.hierarchy.labels[level][node]
        plain = label != ANYTHING and label == label.strip() and label[:1] not in ("", "{", '"')
        if plain and self.ranges[label] == (low, high):
            return label
        if low == 0 and high == len(leaves) - 1:
            return ANYTHING
        return braces(sorted(leaves[low : high + 1]))


# ------------------------------------------------------------------------------------------------------------ reading


def told(texts: Iterable[str], ordered: bool = False) -> set[str]:
    """Return the values and labels that published texts of a categorical attribute name, or of an ordered one.

    >>> sorted(told(["{Divorced, Widowed}", '"Paris, Texas"', "*"]))
    ['*', 'Divorced', 'Paris, Texas', 'Widowed']
    >>> sorted(told(['[low, "mid, or so"]', "high"], ordered=True))
    ['high', 'low', 'mid, or so']
    """
    names: set[str] = set()
    for text in texts:
        several = text[:1] == ("[" if ordered else "{")
        names.update(_items(text[1:-1]) if several else [json.loads(text) if text[:1] == '"' else text])
    return names


def parse(attribute: Attribute, texts: Iterable[str]) -> Regions:
    """The values that each text admits; raises ``DiscreetError`` for a text that cannot be read, naming its column."""
    texts = list(texts)
    low, high = np.empty(len(texts)), np.empty(len(texts))
    missing, whole = np.zeros(len(texts), np.bool_), np.zeros(len(texts), np.bool_)
    sets: dict[int, NDArray[np.int64]] = {}
    try:
        read = _reader(attribute)
    except (ValueError, KeyError):
        raise DiscreetError(
            f"the manifest gives the {attribute.kind} attribute {attribute.name!r} a hierarchy over other values; it "
            "was damaged or edited: publish again"
        ) from None
    for at, text in enumerate(texts):
        if text == MISSING and attribute.kind != "categorical":
            low[at], high[at], missing[at] = math.inf, -math.inf, True
            continue
        try:
            region = None if text == ANYTHING else read(text)
        except (ValueError, KeyError):
            raise DiscreetError(
                f"column {attribute.name!r} of the release holds {text!r}, which is not a value, an interval, a set or "
                f"a label of this {attribute.meaning} attribute; the file was damaged or edited: publish again"
            ) from None
        if region is None:
            low[at], high[at], missing[at], whole[at] = -math.inf, math.inf, True, True
            continue
        low[at], high[at] = region[0], region[-1]
        if not isinstance(region, tuple) and len(region) < region[-1] - region[0] + 1:
            sets[at] = region
    return Regions(low, high, missing, whole, sets)


def _reader(attribute: Attribute) -> Any:
    """A function that reads a text of this attribute: as a pair (low, high), ascending ranks, or None for anything."""
    if attribute.kind == "categorical":
        assert attribute.hierarchy is not None
        return _categorical(Nodes(attribute.hierarchy))
    if attribute.kind == "ordinal":
        ranks = {value: rank for rank, value in enumerate(attribute.values) if not is_unnamed(value)}
        simple = _intervals(lambda item: float(ranks[item]))
    else:
        ranks = {}
        simple = _intervals(lambda item: number_written(item, attribute.notation), lambda text: text.split(", "))
    if isinstance(attribute.notation, Cells):
        cells = attribute.notation
        return lambda text: _cells(text, cells)
    if attribute.hierarchy is None and attribute.recipe is not None:
        return lambda text: interval_named(text) or simple(text)
    if attribute.hierarchy is None:
        return simple
    # a numeric or ordinal attribute published by the labels of its hierarchy
    nodes = Nodes(attribute.hierarchy)
    categorical = _categorical(nodes)
    last = len(attribute.hierarchy.leaves) - 1
    places = [
        math.nan if leaf == MISSING else float(ranks[leaf]) if ranks else finite(leaf)
        for leaf in attribute.hierarchy.leaves
    ]

    def labelled(text: str) -> Any:
        try:
            region = categorical(text)
        except (ValueError, KeyError):
            return simple(text)
        first, final = int(region[0]), int(region[-1])
        return None if (first, final) == (0, last) and last > 0 else (places[first], places[final])

    return labelled


def _categorical(nodes: Nodes) -> Any:
    def read(text: str) -> Any:
        if text[:1] == '"':
            rank = nodes.leaves[json.loads(text)]
            return (rank, rank)
        if text[:1] == "{" and text[-1:] == "}":
            ranks = [nodes.leaves[item] for item in _items(text[1:-1])]
            return np.unique(np.array(ranks, np.int64))
        return nodes.ranges[text]

    return read


def _intervals(place: Any, items: Any = None) -> Any:
    items = items or _items

    def read(text: str) -> tuple[float, float]:
        if text[:1] == "[" and text[-1:] == "]":
            low, high = (place(item) for item in items(text[1:-1]))
            if low > high:
                raise ValueError(text)
            return low, high
        (item,) = items(text)
        value = place(item)
        return value, value

    return read


def finite(text: str) -> float:
    """Read a finite number in plain digits, neither quoted nor grouped, as releases write it."""
    value = float(text) if _number.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def number_written(text: str, notation: Notation) -> float:
    """Read a number in the one form in which releases write it in this notation.

    >>> number_written("17", "number"), number_written("1971-02-03", "date")
    (17.0, 398.0)
    """
    if isinstance(notation, Cells):
        low, high = _cells(text, notation)
        if low != high:
            raise ValueError(text)
        return low
    if notation == "number":
        return finite(text)
    value = moment(text, notation)
    if written(value, notation) != text:
        raise ValueError(text)
    return value


def _cells(text: str, cells: Cells) -> tuple[float, float]:
    """Read the places of the cells from one to another, which are written by their outer ends."""
    first, last = text[1:-1].split(", ") if text[:1] == "[" and text[-1:] == "]" else (text, text)
    return cells.between(number_written(first, cells.base), number_written(last, cells.base))


def _items(text: str) -> list[str]:
    """The values of a list such as ``a, "b, c", d``."""
    if '"' not in text:
        return text.split(", ")
    items: list[str] = []
    at = 0
    decoder = json.JSONDecoder()
    while True:
        if text[at : at + 1] == '"':
            item, at = decoder.raw_decode(text, at)
        else:
            end = text.find(", ", at)
            end = len(text) if end < 0 else end
            item, at = text[at:end], end
        items.append(item)
        if at == len(text):
            return items
        if text[at : at + 2] != ", ":
            raise ValueError(text)
        at += 2
