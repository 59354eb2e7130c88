"""Reads TOML and JSON that may be written by hand or damaged, and refuses faulty ones in one sentence."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from typing import Any, Literal

from discreet.errors import DiscreetError

DEEPEST = 100
"""The deepest nesting accepted: more than twice what any valid file needs, and well below Python's recursion limit."""


def toml(text: str, what: str) -> dict[str, Any]:
    """Parse the text of a TOML file; ``what`` names the file in errors.

    >>> toml("quasi = ['age']", "the job file 'job.toml'")
    {'quasi': ['age']}
    """
    found: dict[str, Any] = _read(tomllib.loads, text, what, "TOML", "correct it")
    return found


def from_json(text: str, what: str, hook: Callable[[list[tuple[str, Any]]], Any], advice: str) -> Any:
    """Parse the text of a JSON file; ``hook`` builds each mapping from its pairs, ``advice`` ends every error."""
    return _read(lambda one: json.loads(one, object_pairs_hook=hook), text, what, "JSON", advice)


def _read(read: Callable[[str], Any], text: str, what: str, kind: Literal["TOML", "JSON"], advice: str) -> Any:
    try:
        found = read(text)
    except RecursionError:
        raise DiscreetError(f"{what} is nested too deeply; {advice}") from None
    except (tomllib.TOMLDecodeError, json.JSONDecodeError) as fault:
        said = str(fault)
        raise DiscreetError(f"{what} is not valid {kind}: {said[:1].lower()}{said[1:]}; {advice}") from None
    except ValueError:  # Python refuses integers with thousands of digits
        raise DiscreetError(f"{what} holds a number of thousands of digits; {advice}") from None
    level, depth = [found], 0
    while level:
        depth += 1
        if depth > DEEPEST:
            raise DiscreetError(f"{what} is nested too deeply; {advice}")
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return found
