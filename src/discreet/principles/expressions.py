"""Values written as ``name(parameter=value, ...)``: promises, and whatever else is asked for by such a text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, ClassVar, TypeVar, cast

from discreet.errors import DiscreetError
from discreet.principles.parameters import Parameter
from discreet.table.texts import near

_QUOTED = r'"(?:\\.|[^"\\])*+"'
_FORM = re.compile(rf'([^\s()"]+)\s*(?:\(((?:{_QUOTED}|[^()"]++)*+)\))?', re.DOTALL)
_PIECES = re.compile(rf'{_QUOTED}|[^",&]++|.', re.DOTALL)


class Expression:
    """A frozen dataclass with a name and declared parameters, which are checked on construction."""

    name: ClassVar[str]
    example: ClassVar[str]
    """A value of this kind as text, quoted in error messages about malformed ones."""
    parameters: ClassVar[tuple[Parameter, ...]] = ()

    def __post_init__(self) -> None:
        """Check every parameter and convert it to its proper type."""
        for parameter in self.parameters:
            value = parameter.check(self.name, getattr(self, parameter.name), self.example)
            object.__setattr__(self, parameter.name, value)

    def __str__(self) -> str:
        """The text that ``parse_one`` reads back; parameters with default values are omitted."""
        written = []
        declared = {parameter.name: parameter for parameter in self.parameters}
        for field in fields(cast(Any, self)):
            value = getattr(self, field.name)
            if field.default is MISSING or value != field.default:
                written.append(f"{field.name}={declared[field.name].write(value)}")
        return f"{self.name}({', '.join(written)})"


E = TypeVar("E", bound=Expression)


def split(text: str, mark: str) -> list[str]:
    """Split a text at ``mark``, except inside double quotes.

    >>> split('a="x, y", b', ",")
    ['a="x, y"', ' b']
    """
    parts = [""]
    for piece in _PIECES.findall(text):
        if piece == mark:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def parse_one(text: str, kinds: Mapping[str, type[E]], noun: str, example: str) -> E:
    """The value written in a text, given its possible kinds by name; ``noun`` and ``example`` are for messages."""
    form = _FORM.fullmatch(text)
    if form is None:
        raise DiscreetError(f"{noun} '{text}' cannot be read; write it like {example}")
    name, inside = form[1].lower(), form[2] or ""
    kind = kinds.get(name)
    if kind is None:
        raise DiscreetError(f"no {noun} is called '{form[1]}'; {near(name, kinds, most=1)}")
    declared = {parameter.name: parameter for parameter in kind.parameters}
    given: dict[str, object] = {}
    for item in filter(None, (piece.strip() for piece in split(inside, ","))):
        key, equals, value = (piece.strip() for piece in item.partition("="))
        key = key.lower()
        if not equals or not value:
            raise DiscreetError(f"{name}: '{item}' is not of the form name=value; write for example {kind.example}")
        if key not in declared:
            hint = near(key, declared, most=1) if declared else "it has none"
            raise DiscreetError(f"{name} has no parameter '{key}'; {hint}")
        if key in given:
            raise DiscreetError(f"{name}: {key} is given twice in '{text}'; give it once")
        try:
            given[key] = declared[key].read(value)
        except ValueError:
            raise DiscreetError(
                f"{name}: {item} cannot be read; {key} must be {declared[key].describe()}, and a quote inside it is "
                f'written \\"'
            ) from None
    for field in fields(cast(Any, kind)):
        if field.default is MISSING and field.name not in given:
            raise DiscreetError(f"{name} needs its parameter {field.name}; write for example {kind.example}")
    return kind(**given)
