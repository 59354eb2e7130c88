"""What a parameter may be: its annotation says so, in types and ranges. All else is refused in one sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from difflib import get_close_matches
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from discreet.errors import DiscreetError

WHOLE = int, np.integer
ADMITTED: dict[Any, tuple[type, ...]] = {
    bool: (bool, np.bool_),
    int: WHOLE,
    float: (*WHOLE, float, np.floating),
    str: (str,),
}
"""The types of the values that an annotation admits; each value is converted to the type of the annotation."""
NAMES = {
    bool: ("true or false", "truth values"),
    int: ("a whole number", "whole numbers"),
    float: ("a finite number", "finite numbers"),
    str: ("a text", "texts"),
    NoneType: ("None", "Nones"),
}
"""What annotations are called in messages, as one and as several."""
LONGEST = 80
"""The most characters of a refused value that a message shows."""
LONGEST_WHOLE = 300
"""The longest text that is read as a whole number; longer ones are treated as too large for a float."""
LARGEST_COUNT = 2**53
"""The largest whole number in any range: up to here a float represents each exactly, and counts stay far below."""
WAY_OUT = "correct it, or leave it out"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)


@dataclass(frozen=True)
class Interval:
    """The range of a number, declared on its annotation.

    >>> share = Annotated[float, Interval(0, 1, closed="left")]
    >>> fitting(0, share), described(share), described(Annotated[int, Interval(1)])
    (0.0, 'a number of at least 0 and below 1', 'a whole number of at least 1')
    """

    low: float = -math.inf
    high: float = math.inf
    closed: Literal["both", "left", "right", "neither"] = "both"
    """Which of the ends belong to the range."""

    def __contains__(self, number: float) -> bool:
        above = number >= self.low if self.closed in ("both", "left") else number > self.low
        below = number <= self.high if self.closed in ("both", "right") else number < self.high
        return above and below and (not isinstance(number, int) or number <= LARGEST_COUNT)

    def __str__(self) -> str:
        """The range in words that follow "a number"."""
        if math.isfinite(self.low) and math.isfinite(self.high) and self.closed == "both":
            return f"between {self.low:g} and {self.high:g}"
        above = f"of at least {self.low:g}" if self.closed in ("both", "left") else f"above {self.low:g}"
        below = f"at most {self.high:g}" if self.closed in ("both", "right") else f"below {self.high:g}"
        if not math.isfinite(self.low):
            return below.replace("at most", "of at most")
        return f"{above} and {below}" if math.isfinite(self.high) else above


def checked(name: str, value: object, hint: Any, way_out: str = WAY_OUT) -> Any:
    """Return a parameter as its annotation has it (see ``fitting``); raise ``DiscreetError`` if it is not admitted.

    >>> checked("withhold", np.float64(0.5), float), checked("random_state", None, int | None)
    (0.5, None)
    >>> checked("refine", "false", bool)
    Traceback (most recent call last):
        ...
    discreet.errors.DiscreetError: refine must be true or false, not 'false'; did you mean refine=False?
    """
    try:
        return fitting(value, hint)
    except ValueError:
        meant = _meant(name, value, hint)
        way_out = way_out if meant is None else f"did you mean {meant}?"
        raise DiscreetError(f"{name} must be {described(hint)}, not {brief(value)}; {way_out}", name) from None


def _meant(name: str, value: object, hint: Any) -> str | None:
    """Return what was probably meant by a value that is not admitted, in words; None if that cannot be told."""
    if isinstance(value, float) and int in _members(hint):
        with suppress(ValueError, OverflowError):
            return f"{name}={fitting(int(value), hint)!r}"
    if not isinstance(value, str):
        return None
    with suppress(ValueError):
        return f"{name}={fitting(read(value, hint), hint)!r}"
    if _NUMBER.fullmatch(value) and _vanishes(value):
        with suppress(ValueError):
            fitting(0.0, hint)
            return "0, from which it cannot be told apart"
    words = [choice for member in _members(hint) if get_origin(member) is Literal for choice in get_args(member)]
    close = get_close_matches(value.lower(), map(str, words), n=1)
    return f"'{close[0]}'" if close else None


def fitting(value: object, hint: Any) -> Any:
    """Return a value in the type of its annotation; raise ``ValueError`` if the annotation does not admit it.

    Scalars of numpy become those of Python, and sequences tuples. True is not a number here, and nor is what is not
    finite. A function that is declared on an annotation says whether it admits a value. Annotations that say more than
    this function understands admit everything.

    >>> fitting(np.int64(3), float), fitting(["age", "sex"], str | Sequence[str])
    (3.0, ('age', 'sex'))
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        admitted = fitting(value, inner[0])
        tests = [declared.__contains__ if isinstance(declared, Interval) else declared for declared in inner[1:]]
        if not all(test(admitted) for test in tests if callable(test)):
            raise ValueError
        return admitted
    if origin in (Union, UnionType):
        for member in inner:
            with suppress(ValueError):
                return fitting(value, member)
        raise ValueError
    if origin is Literal:
        for choice in inner:
            if isinstance(value, type(choice)) and value == choice:
                return choice
        raise ValueError
    if origin in (Sequence, tuple):
        if not isinstance(value, Sequence) or isinstance(value, str | bytes):
            raise ValueError
        hints = inner if origin is tuple else inner * len(value)
        return tuple(fitting(item, hint) for item, hint in zip(value, hints, strict=True))
    if origin is Callable:
        if not callable(value):
            raise ValueError
        return value
    if hint in ADMITTED:
        return _scalar(value, hint)
    if hint is not Any and isinstance(hint, type) and not isinstance(value, hint):
        raise ValueError
    return value


def _scalar(value: Any, hint: Any) -> Any:
    """Return a truth value, a number or a text in its proper type; raise ``ValueError`` if it is another."""
    if not isinstance(value, ADMITTED[hint]) or (isinstance(value, bool) and hint is not bool):
        raise ValueError
    try:
        converted = hint(value)
    except OverflowError:  # a whole number too large for a float
        raise ValueError from None
    if hint is float and not math.isfinite(converted):
        raise ValueError
    return converted


def _members(hint: Any) -> Iterator[Any]:
    """Yield the types that an annotation allows, without what is declared about them."""
    origin = get_origin(hint)
    if origin is Annotated:
        yield from _members(get_args(hint)[0])
    elif origin in (Union, UnionType):
        for member in get_args(hint):
            yield from _members(member)
    else:
        yield hint


def read(text: str, hint: Any) -> object:
    """Return the value that a text gives a parameter, or the text itself if it gives none, for ``checked`` to refuse.

    >>> read("true", bool), read("0.02", float), read("7", int | None), read("plain+stratified", Sequence[str])
    (True, 0.02, 7, ('plain', 'stratified'))
    """
    members = list(_members(hint))
    for member in members:
        if get_origin(member) is Literal:
            for choice in get_args(member):
                if str(choice).lower() == text.lower():
                    return choice
    if bool in members and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if int in members or float in members:
        if _WHOLE.fullmatch(text):
            return int(text) if len(text) <= LONGEST_WHOLE else text
        return float(text) if _NUMBER.fullmatch(text) and not _vanishes(text) else text
    several = any((get_origin(member) or member) in (Sequence, tuple, list) for member in members)
    return words(text) if several and str not in members else text


def _vanishes(text: str) -> bool:
    """Whether a nonzero decimal underflows to zero, which would change what is asked for."""
    digits = re.split("[eE]", text)[0]
    return float(text) == 0.0 and re.search("[1-9]", digits) is not None


def words(text: str) -> tuple[str, ...]:
    """Return the words of a parameter that may have several.

    >>> words("plain+stratified"), words("plain, stratified")
    (('plain', 'stratified'), ('plain', 'stratified'))
    """
    return tuple(text.replace("+", " ").replace(",", " ").split())


def several(given: Any) -> tuple[Any, ...]:
    """Return the members of a list, or anything else as the only one.

    >>> several("f"), several(["f", "m"])
    (('f',), ('f', 'm'))
    """
    return (given,) if isinstance(given, str | bytes) or not isinstance(given, Iterable) else tuple(given)


@cache
def hints_of(kind: type) -> dict[str, Any]:
    """Return the annotations of a dataclass's fields, resolved, in their order."""
    known = get_type_hints(kind, include_extras=True)
    return {field.name: known[field.name] for field in fields(kind)}


def brief(value: object) -> str:
    """Return how a message shows a value: on one line, and not at length.

    >>> brief(np.float64(0.5)), len(brief("x" * 1000)), brief(np.zeros((2, 2)))
    ('0.5', 80, 'ndarray(...)')
    """
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:  # Python writes no whole numbers of thousands of digits
        text = ""
    if not text or "\n" in text:
        return f"{type(value).__name__}(...)"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def described(hint: Any, several: bool = False) -> str:
    """Return what an annotation admits, in words; a text that is declared on it says it instead.

    >>> described(Literal["ail", "gcp"] | int), described(Annotated[str, "the name of a column"])
    ('ail or gcp or a whole number', 'the name of a column')
    """
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        for declared in inner[1:]:
            if isinstance(declared, str):
                return declared
            if isinstance(declared, Interval):
                return f"{described(inner[0], several).replace('finite ', '')} {declared}"
        return described(inner[0], several)
    if origin in (Union, UnionType):
        return " or ".join(described(member, several) for member in inner)
    if origin is Literal:
        *first, last = map(str, inner)
        return f"{', '.join(first)} or {last}" if first else last
    if origin is Callable:
        return "functions" if several else "a function"
    if origin is Sequence:
        return f"{'lists' if several else 'a list'} of {described(inner[0], several=True)}"
    name = getattr(hint, "__name__", str(hint))
    return NAMES.get(hint, (f"a {name}", f"{name}s"))[several]
