"""What an option may be: its annotation says so. Anything else is refused in a sentence that names the option."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import fields
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

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


def checked(name: str, value: object, hint: Any, way_out: str = "correct it, or leave it out") -> Any:
    """Return an option as its annotation has it (see ``fitting``); raise ``DiscreetError`` if that does not admit it.

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
        raise DiscreetError(_refusal(name, value, hint, way_out)) from None


def _refusal(name: str, value: object, hint: Any, way_out: str) -> str:
    """Return the sentence that refuses a value; the way out is what was probably meant, if that can be told."""
    if get_origin(hint) is Literal:
        return f"{name}={brief(value)} is not known; choose {', '.join(map(str, get_args(hint)))}"
    if isinstance(value, str):
        with suppress(ValueError):
            way_out = f"did you mean {name}={fitting(read(value, hint), hint)!r}?"
    return f"{name} must be {described(hint)}, not {brief(value)}; {way_out}"


def fitting(value: object, hint: Any) -> Any:
    """Return a value in the type of its annotation; raise ``ValueError`` if the annotation does not admit it.

    Scalars of numpy become those of Python, and sequences tuples. True is not a number here, and nor is what is not
    finite. Annotations that say more than this function understands admit everything.

    >>> fitting(np.int64(3), float), fitting(["age", "sex"], str | Sequence[str])
    (3.0, ('age', 'sex'))
    """
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        for one in get_args(hint):
            with suppress(ValueError):
                return fitting(value, one)
        raise ValueError
    if origin is Literal:
        for one in get_args(hint):
            if isinstance(value, type(one)) and value == one:
                return one
        raise ValueError
    if origin is Sequence:
        if not isinstance(value, Sequence) or isinstance(value, str | bytes):
            raise ValueError
        return tuple(fitting(one, get_args(hint)[0]) for one in value)
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
        found = hint(value)
    except OverflowError:  # a whole number too large for a float
        raise ValueError from None
    if hint is float and not math.isfinite(found):
        raise ValueError
    return found


def read(text: str, hint: Any) -> object:
    """Return the value that a text gives an option, or the text itself if it gives none, for ``checked`` to refuse.

    >>> read("true", bool), read("0.02", float), read("7", int | None), read("plain+stratified", Sequence[str])
    (True, 0.02, 7, ('plain', 'stratified'))
    """
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    if bool in kinds and text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        if kind in kinds:
            with suppress(ValueError):
                return kind(text)
    several = any((get_origin(kind) or kind) in (Sequence, tuple, list) for kind in kinds)
    return words(text) if several and str not in kinds else text


def words(text: str) -> tuple[str, ...]:
    """Return the words of an option that may have several.

    >>> words("plain+stratified"), words("plain, stratified")
    (('plain', 'stratified'), ('plain', 'stratified'))
    """
    return tuple(text.replace("+", " ").replace(",", " ").split())


@cache
def hints_of(kind: type) -> dict[str, Any]:
    """Return the annotations of a dataclass's fields, resolved, in their order."""
    known = get_type_hints(kind)
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
    """Return what an annotation admits, in words."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return " or ".join(described(one, several) for one in get_args(hint))
    if origin is Literal:
        return " or ".join(map(str, get_args(hint)))
    if origin is Callable:
        return "functions" if several else "a function"
    if origin is Sequence:
        return f"{'lists' if several else 'a list'} of {described(get_args(hint)[0], several=True)}"
    name = getattr(hint, "__name__", str(hint))
    return NAMES.get(hint, (f"a {name}", f"{name}s"))[several]
