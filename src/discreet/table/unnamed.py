"""Values of an order that a release counts and does not name: their places are known, their names are not.

In memory a mark stands in the place of each of them, so that ranks and widths are those of all values.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import groupby

from discreet.table.texts import is_number

UNNAMED = "\0"
"""How the name of a value begins that a release counts but does not name; no text of a table contains it."""
OTHERS = "(not named)"
"""What queries and their answers call all values together that a release does not name."""
MEANT_BY_OTHERS = "all values that a release does not name"
"""What that means, in messages that refuse it as a value."""
MOST_UNNAMED = 1 << 22
"""How many labels values without names may have together: a small file could claim any number."""


def is_unnamed(value: str) -> bool:
    """Whether a value is the mark of one that has no name."""
    return value.startswith(UNNAMED)


def naming(values: Sequence[str], texts: Collection[str]) -> tuple[str, ...]:
    """Return ordered values of which only these have names.

    >>> listed(naming(["a", "b", "c", "d"], {"a", "d"}))
    ['a', 2, 'd']
    """
    return tuple(value if value in texts else f"{UNNAMED}{place:08}" for place, value in enumerate(values))


def listed(values: Iterable[str]) -> list[str | int]:
    """Return ordered values as a manifest lists them: in place of values without a name their number."""
    runs = ((nameless, list(run)) for nameless, run in groupby(values, is_unnamed))
    return [item for nameless, run in runs for item in ([len(run)] if nameless else run)]


def from_listed(entries: Sequence[str | int]) -> tuple[str, ...]:
    """Return the values that ``listed`` wrote.

    >>> listed(from_listed(["a", 2, "d"]))
    ['a', 2, 'd']
    """
    numbers = [entry for entry in entries if not isinstance(entry, str)]
    if not all(type(number) is int and number > 0 for number in numbers) or sum(numbers) > MOST_UNNAMED:
        raise ValueError(numbers)
    values = [value for entry in entries for value in ([entry] if isinstance(entry, str) else [UNNAMED] * entry)]
    if listed(values) != list(entries):  # two numbers side by side would be one
        raise ValueError(entries)
    return naming(values, {value for value in values if value != UNNAMED})


def naming_also(values: Sequence[str], other: Sequence[str]) -> tuple[str, ...] | None:
    """Return an order of which two tellings name these values; None if they are not about the same.

    >>> listed(naming_also(naming("abc", "a"), naming("abc", "b")))
    ['a', 'b', 1]
    """
    if len(values) != len(other):
        return None
    pairs = [(one, two) if is_unnamed(two) else (two, one) for one, two in zip(values, other, strict=True)]
    return tuple(one for one, _ in pairs) if all(one == two or is_unnamed(two) for one, two in pairs) else None


def revealed(values: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the order with the names of all values, as one knows it who knows them all.

    If the order known is another one, the values are returned as they are.

    >>> revealed(naming("abcd", "ad"), "abcd"), revealed(naming("abcd", "ac"), "cbad") == naming("abcd", "ac")
    (('a', 'b', 'c', 'd'), True)
    """
    places = {value: place for place, value in enumerate(known)}
    stated = [places[value] for value in values if value in places]
    if stated != sorted(stated):
        return tuple(values)
    result: list[str] = []
    start, hidden = 0, False
    for value in values:
        if is_unnamed(value):
            hidden = True
            continue
        if value in places:
            result += known[start : places[value]] if hidden else ()
            start, hidden = places[value] + 1, False
        result.append(value)
    return (*result, *(known[start:] if hidden else ()))


def standing_in(values: Sequence[str], asked: Iterable[str]) -> dict[str, str]:
    """Return, per value asked for that has no name, the one of those without a name that it is counted as.

    Between two values with names their order decides, as it does where no order is declared: that of numbers, if all
    are numbers, else that of texts. Several values in the same gap are spread over it evenly.

    >>> [int(mark[1:]) for mark in standing_in(naming("abcde", "ae"), ["b", "c", "d", "e", "f"]).values()]
    [1, 2, 3]
    """
    at = [place for place, value in enumerate(values) if not is_unnamed(value)]
    names, new = [values[place] for place in at], set(asked) - set(values)
    place_of = _order(names, new)
    if place_of is None or len(names) == len(values):
        return {}
    keys, found = [place_of(name) for name in names], dict[str, str]()
    new = {value for value in new if not (place_of is _as_number and not is_number(value))}
    for gap, run in groupby(sorted(new, key=place_of), lambda value: bisect(keys, place_of(value))):
        start, end = at[gap - 1] + 1 if gap else 0, at[gap] if gap < len(at) else len(values)
        texts = list(run)
        for number, text in enumerate(texts if start < end else ()):
            found[text] = values[start + (2 * number + 1) * (end - start) // (2 * len(texts))]
    return found


def _as_number(text: str) -> tuple[float, str]:
    return float(text), text


def _as_text(text: str) -> tuple[float, str]:
    return 0.0, text


def _order(names: Sequence[str], others: Iterable[str]) -> Callable[[str], tuple[float, str]] | None:
    """Return by what these names are sorted; None if they are not."""
    if all(map(is_number, names or others)) and sorted(names, key=_as_number) == list(names):
        return _as_number
    return _as_text if sorted(names) == list(names) else None
