"""Reads TOML and JSON that may be written by hand or damaged, and refuses faulty ones in one sentence."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any, Literal

from discreet.errors import DiscreetError

DEEPEST = 100
"""The deepest nesting accepted: more than twice what any valid file needs, and well below Python's recursion limit."""


def toml(text: str, what: str) -> dict[str, Any]:
    """Parse the text of a TOML file; ``what`` names the file in errors.

    >>> toml("quasi = ['age']", "the job file 'job.toml'")
    {'quasi': ['age']}
    """
    mapping: dict[str, Any] = _read(tomllib.loads, text, what, "TOML", "correct it")
    return mapping


def from_json(text: str, what: str, hook: Callable[[list[tuple[str, Any]]], Any], advice: str) -> Any:
    """Parse the text of a JSON file; ``hook`` builds each mapping from its pairs, ``advice`` ends every error."""
    return _read(partial(json.loads, object_pairs_hook=hook), text, what, "JSON", advice)


def _read(read: Callable[[str], Any], text: str, what: str, kind: Literal["TOML", "JSON"], advice: str) -> Any:
    try:
        document = read(text)
    except RecursionError:
        raise DiscreetError(f"{what} is nested too deeply; {advice}") from None
    except (tomllib.TOMLDecodeError, json.JSONDecodeError) as fault:
        reason = str(fault)
        raise DiscreetError(f"{what} is not valid {kind}: {reason[:1].lower()}{reason[1:]}; {advice}") from None
    except ValueError:  # Python refuses integers with thousands of digits
        raise DiscreetError(f"{what} holds a number of thousands of digits; {advice}") from None
    level = [document]
    for _ in range(DEEPEST):
        inner = [node.values() if isinstance(node, dict) else node for node in level if isinstance(node, dict | list)]
        level = list(chain.from_iterable(inner))
    if level:
        raise DiscreetError(f"{what} is nested too deeply; {advice}")
    return document
