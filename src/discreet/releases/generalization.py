"""The texts with which the groups of a partition are published."""

from __future__ import annotations

from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.boxes.boxes import NO_HIGH, NO_LOW, spans
from discreet.releases.attributes import Attribute
from discreet.releases.columns import ExactColumn, value_name
from discreet.releases.descriptions import Texts
from discreet.releases.labels import ANYTHING, Nodes, braces, interval, quoted
from discreet.table.combinations import distinct
from discreet.table.table import Column
from discreet.table.texts import MISSING

Values = Literal["interval", "label", "set"]
"""How quasi-identifiers are published: numbers and ordered values by the smallest interval and categories by the lowest
label (``interval``), all of them by a label wherever a hierarchy is declared (``label``), or categories by the set of
values present (``set``)."""


def generalize(column: Column, groups: NDArray[np.int32], number: int, values: Values) -> Texts:
    """Return the texts with which ``number`` groups of rows are published on one attribute; group -1 is withheld."""
    if values == "set" and column.kind == "categorical":
        return _sets(column, groups, number)
    low = np.full(number, NO_LOW, np.int32)
    high = np.full(number, NO_HIGH, np.int32)
    cast(Any, spans)(np.ascontiguousarray(column.codes, dtype=np.int32), groups, low, high)
    # few pairs of ends are distinct, and each is put into words once
    width = len(column.values)
    pairs, which = np.unique(low.astype(np.int64) * width + high, return_inverse=True)
    by_label = column.kind == "categorical" or (values == "label" and column.hierarchy is not None)
    return merged((_labels if by_label else _intervals)(column, pairs // width, pairs % width), which)


def exact_texts(attribute: Attribute, column: ExactColumn) -> tuple[str, ...]:
    """Return the texts of all values of a column as descriptions write them.

    >>> pay = Attribute("pay", "quasi", "numeric")
    >>> exact_texts(pay, ExactColumn(np.array([np.nan, 10.0]), np.zeros(0, np.int32)))
    ('(missing)', '10')
    """
    if attribute.kind == "numeric":
        return tuple(value_name(value, column.notation) for value in column.values)
    apart = attribute.kind != "categorical"  # only there a missing value is a name like any other
    return tuple(MISSING if apart and value == MISSING else quoted(str(value)) for value in column.values)


def _labels(column: Column, low: NDArray[np.int64], high: NDArray[np.int64]) -> list[str]:
    """Return the labels of the lowest nodes above ranges of leaves, whose ranks are the codes of such columns."""
    tree = column.hierarchy
    assert tree is not None, "every categorical column has a hierarchy"
    nodes = Nodes(tree)
    level, node = tree.lca(low, high)
    return [nodes.text(at, which) for at, which in zip(level.tolist(), node.tolist(), strict=True)]


def _intervals(column: Column, low: NDArray[np.int64], high: NDArray[np.int64]) -> list[str]:
    """Return the texts of ranges of codes of a numeric or ordinal column."""
    texts = column.texts if column.kind == "numeric" else tuple(quoted(text) for text in column.texts)
    words = [interval(texts[first], texts[last]) for first, last in zip(low.tolist(), high.tolist(), strict=True)]
    if column.missing is not None:
        # missing values come before all others, so a group contains some if its low end is their code
        for at in np.flatnonzero(low == column.missing).tolist():
            words[at] = MISSING if high[at] == column.missing else ANYTHING
    return words


def _sets(column: Column, groups: NDArray[np.int32], number: int) -> Texts:
    """Describe groups by exactly the values they contain."""
    card = len(column.values)
    kept = groups >= 0
    keys = distinct(groups[kept].astype(np.int64) * card + column.codes[kept])
    members = (keys % card).tolist()
    ends = np.cumsum(np.bincount(keys // card, minlength=number)).tolist()
    words: list[str] = []
    known: dict[tuple[int, ...], str] = {}
    start = 0
    for end in ends:
        present = tuple(members[start:end])
        start = end
        if present not in known:
            known[present] = braces(sorted(str(column.values[code]) for code in present))
        words.append(known[present])
    return merged(words, np.arange(number))


def merged(words: list[str], which: NDArray[np.integer[Any]]) -> Texts:
    """Merge equal texts."""
    place: dict[str, int] = {}
    of_word = np.array([place.setdefault(word, len(place)) for word in words], np.int32)
    return Texts(tuple(place), of_word[which])
