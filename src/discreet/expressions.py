"""One grammar for everything with parameters: ``cuts(effort=thorough, loss=gcp)``, ``beta-likeness(beta=2)``.

Schemes, promises and attacks are written, read and checked here and nowhere else. A value may be another such text
(``codip(scheme=cuts(loss=gcp))``), and is quoted as in JSON if it holds a comma, a parenthesis or another sign of the
grammar: ``l-diversity(l=2, attribute="wage (EUR)")``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from functools import reduce
from operator import or_
from types import NoneType
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, cast, get_args

from discreet.errors import DiscreetError, MissingParameterError
from discreet.options import WAY_OUT, brief, checked, hints_of, read
from discreet.table.texts import near, number_text

SEED = "random_state"
"""The parameter that is no part of a text: a seed is for experiments, and given on its own."""
PUBLISHED = "published"
"""Stands in place of parameters for those of the paper, as in ``burel(published)``."""
_QUOTED = r'"(?:\\.|[^"\\])*+"'
_FORM = re.compile(r'([^\s()",&=]+)\s*(?:\((.*)\))?', re.DOTALL)
_PIECES = re.compile(rf'{_QUOTED}|[^",+&()]++|.', re.DOTALL)


class Expression:
    """A frozen dataclass with a name, whose parameters are checked by their annotations on construction."""

    name: ClassVar[str]
    example: ClassVar[str] = ""
    """One of this kind as text, quoted in messages about malformed ones."""
    published: ClassVar[Mapping[str, str]] = {}
    """The parameters that make it what the paper describes, as texts, where the defaults are ours."""

    def __post_init__(self) -> None:
        """Check every parameter and convert it to its proper type.

        Subclasses add only what a single annotation cannot say, such as that two parameters exclude each other.
        """
        for field in fields(cast(Any, self)):
            self.check_parameter(field.name, self._example(field.name) if field.default is MISSING else WAY_OUT)

    def check_parameter(self, name: str, way_out: str) -> None:
        """Check one parameter; its absence is written by leaving it out, so messages do not speak of None."""
        value, hint = getattr(self, name), hints_of(cast(Any, type(self)))[name]
        if value is None and NoneType in get_args(hint):
            return
        try:
            object.__setattr__(self, name, checked(name, value, without_none(hint), way_out))
        except DiscreetError as refusal:
            raise DiscreetError(f"{self.name}: {refusal}", refusal.field) from None

    @classmethod
    def _example(cls, parameter: str) -> str:
        """Say how to write one of this kind, which needs a parameter."""
        return f"write for example {cls.example}" if cls.example else f"write '{cls.name}({parameter}=...)'"

    @classmethod
    def from_texts(cls, texts: Mapping[str, str], **settings: Any) -> Self:
        """Return one with parameters given as texts, as on a command line or in a manifest."""
        hints = {key: hint for key, hint in hints_of(cast(Any, cls)).items() if key != SEED}
        if PUBLISHED in texts:
            if not cls.published:
                raise DiscreetError(f"{cls.name} has no settings of a paper; leave out {PUBLISHED!r}", PUBLISHED)
            texts = {**cls.published, **{key: text for key, text in texts.items() if key != PUBLISHED}}
        defaults = {field.name: field.default for field in fields(cast(Any, cls))}
        values: dict[str, object] = {}
        for key, text in texts.items():
            if key not in hints:
                hint = near(key, hints, most=1) if hints else "it has none"
                raise DiscreetError(f"{cls.name} has no parameter '{brief(key)[1:-1]}'; {hint}")
            values[key] = read(text, type(defaults[key]) if hints[key] is Any else hints[key])
        for key, default in defaults.items():
            if default is MISSING and key not in values:
                raise MissingParameterError(cls.name, key, cls._example(key))
        return cls(**values, **settings)

    def __str__(self) -> str:
        """The text that reads back as the same; parameters are left out where that changes nothing."""
        parameters = [
            f"{field.name}={written(getattr(self, field.name))}"
            for field in fields(cast(Any, self))
            if field.name != SEED and self._differs(field.name, field.default)
        ]
        return f"{self.name}({', '.join(parameters)})" if parameters else self.name

    def _differs(self, name: str, default: object) -> bool:
        """Whether another value would result if a parameter were left out."""
        if default is MISSING or getattr(self, name) == default:
            return default is MISSING
        try:
            return bool(replace(cast(Any, self), **{name: default}) != self)
        except DiscreetError:  # it must be given
            return True


PUBLISHED = "published"
"""Stands in place of parameters for those of the paper, as in ``burel(published)``."""
E = TypeVar("E", bound=Expression)


def without_none(hint: Any) -> Any:
    """Return what an annotation admits if something is given: the annotation without None.

    >>> without_none(int | None)
    <class 'int'>
    """
    members = get_args(hint)
    return reduce(or_, (member for member in members if member is not NoneType)) if NoneType in members else hint


def joined(value: object) -> object:
    """Return several words as one text, and anything else as it is.

    >>> joined(("plain", "stratified")), joined((("age", "sex"), ("zip", "job,paid"))), joined(5)
    ('plain+stratified', 'age+sex,zip+"job,paid"', 5)
    """
    if not isinstance(value, tuple):
        return value
    nested = any(isinstance(item, tuple) for item in value)
    return ("," if nested else "+").join(
        _sure(item, "+") if isinstance(item, str) else str(joined(item)) for item in value
    )


def written(value: object) -> str:
    """Return the text of a parameter's value.

    >>> written(True), written(2.0), written(("plain", "stratified")), written("wage (EUR)")
    ('true', '2', 'plain+stratified', '"wage (EUR)"')
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return number_text(value)
    return _sure(str(joined(value)))


def _sure(text: str, sign: str = "") -> str:
    """Return a text that reads back as itself: quoted if it holds signs of the grammar, or another ``sign``."""
    if text and text == text.strip() and text.isprintable() and not set(text) & {*',()&"', *sign}:
        return text
    return json.dumps(text, ensure_ascii=not text.isprintable())


class Form(NamedTuple):
    """A text taken apart: a name and the texts of its parameters."""

    name: str
    given: dict[str, str]


def split(text: str, mark: str) -> list[str]:
    """Split a text at ``mark``, except inside double quotes and parentheses.

    >>> split('cuts, cuts(effort=thorough, loss=gcp), "a, b"', ",")
    ['cuts', ' cuts(effort=thorough, loss=gcp)', ' "a, b"']
    """
    parts: list[list[str]] = [[]]
    depth = 0
    for piece in _PIECES.findall(text):
        depth += (piece == "(") - (piece == ")")
        if piece == mark and depth <= 0:
            parts.append([])
        else:
            parts[-1].append(piece)
    return ["".join(part) for part in parts]


def _balanced(text: str) -> bool:
    """Whether every parenthesis and every quote is closed, and none closed that was not opened."""
    depth = 0
    for piece in _PIECES.findall(text):
        depth += (piece == "(") - (piece == ")")
        if depth < 0 or piece == '"':
            return False
    return depth == 0


def form_of(text: str, noun: str, example: str, kinds: Mapping[str, type[Expression]] | None = None) -> Form:
    """Take a text apart; ``kinds`` are those that it may name, ``noun`` and ``example`` are for messages.

    >>> form_of("cuts(effort=thorough, loss=gcp)", "scheme", "'cuts'")
    Form(name='cuts', given={'effort': 'thorough', 'loss': 'gcp'})
    """
    form = _FORM.fullmatch(text.strip())
    if form is None or not _balanced(form[2] or ""):
        way_out = _elsewhere(text) or f"write it like {example}"
        raise DiscreetError(f"{noun} {brief(text.strip())} cannot be read; {way_out}")
    name = form[1].lower()
    kind = None if kinds is None else kinds.get(name)
    if kinds is not None and kind is None:
        raise DiscreetError(f"no {noun} is called {brief(form[1])}; {_elsewhere(form[1]) or near(name, kinds, most=1)}")
    example = getattr(kind, "example", "") or example
    texts: dict[str, str] = {}
    inside = (form[2] or "").strip()
    for item in map(str.strip, split(inside, ",") if inside else ()):
        key, equals, value = (piece.strip() for piece in item.partition("="))
        key = key.lower()
        if key == PUBLISHED and not equals:
            value = key
        elif not key or not equals or not value:
            raise DiscreetError(f"{name}: {brief(item)} is not of the form name=value; write for example {example}")
        if key in texts:
            raise DiscreetError(f"{name}: {brief(key)[1:-1]} is given twice in {brief(text.strip())}; give it once")
        texts[key] = unquoted(name, item, value)
    return Form(name, texts)


def _elsewhere(name: str) -> str | None:
    """Return what a name in the literature is here; None if it is none."""
    from discreet.literature import term  # imported late: only names that are unknown here are looked up

    known = term(name)
    return known and f"here {known[0]} is {known[1].written}"


def unquoted(name: str, item: str, value: str) -> str:
    """Return a value without its quotes; those inside the parentheses of a nested text stay.

    ``name`` and ``item``, of which it is a part, are for messages.
    """
    if '"' not in value or (value[0] != '"' and "(" in value):
        return value
    try:
        return str(json.loads(value))
    except ValueError:
        raise DiscreetError(
            f"{name}: {brief(item)} cannot be read; put the whole value into double quotes, and write a quote inside "
            'it as \\"'
        ) from None


def parse_one(text: str, kinds: Mapping[str, type[E]], noun: str, example: str) -> E:
    """Return what a text describes, given the possible kinds by name; ``noun`` and ``example`` are for messages."""
    form = form_of(text, noun, example, kinds)
    return kinds[form.name].from_texts(form.given)
