"""The parameters of a promise, declared as data and checked in one place."""

from __future__ import annotations

import json
import math
import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from difflib import get_close_matches
from typing import cast

from discreet.errors import DiscreetError
from discreet.options import brief, fitting
from discreet.principles.wording import exact

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
LONGEST = 300
"""The longest text read as a whole number; longer ones are treated as too large for a float."""
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)


@dataclass(frozen=True)
class Parameter(ABC):
    """A parameter of a promise: its name, its accepted values, and whether it may be omitted (``None``)."""

    name: str
    optional: bool = False

    @abstractmethod
    def describe(self) -> str:
        """The accepted values, phrased to follow "must be"."""

    @abstractmethod
    def read(self, text: str) -> object:
        """The value written in a text, or the text itself if it is not a valid value (``check`` then rejects it).

        Raises ``ValueError`` for malformed texts, such as an unterminated quote.
        """

    def write(self, value: object) -> str:
        """The text of a value, such that ``read`` returns the value."""
        return value if isinstance(value, str) else exact(cast(float, value))

    @abstractmethod
    def accept(self, value: object) -> object:
        """The value in its proper type; raises ``ValueError`` if it is not acceptable."""

    def check(self, promise: str, value: object, example: str) -> object:
        """The value in its proper type; raises ``DiscreetError`` naming the accepted values."""
        if value is None and self.optional:
            return None
        try:
            return self.accept(value)
        except ValueError:
            near = self.near(value)
            way_out = f"did you mean {near}?" if near else f"write for example {example}"
            raise DiscreetError(
                f"{promise}: {self.name} must be {self.describe()}, not {brief(value)}; {way_out}"
            ) from None

    def near(self, value: object) -> str | None:
        """An accepted value that the user probably meant, as text."""
        return None


def _number(text: str) -> object:
    """The number written in a text, or the text itself if it is no number or does not fit into a float."""
    if _WHOLE.fullmatch(text):
        return int(text) if len(text) <= LONGEST else text
    return float(text) if _NUMBER.fullmatch(text) and not _vanishes(text) else text


def _vanishes(text: str) -> bool:
    """Whether a nonzero decimal underflows to zero, which would change the promise."""
    digits = re.split("[eE]", text)[0]
    return float(text) == 0.0 and re.search("[1-9]", digits) is not None


@dataclass(frozen=True)
class Number(Parameter):
    """A finite number between ``low`` (excluded when ``above``) and ``high``."""

    low: float = 0.0
    high: float = math.inf
    above: bool = False

    def describe(self) -> str:
        """The accepted values, phrased to follow "must be"."""
        if math.isfinite(self.high):
            if self.above:
                return f"a number above {self.low:g} and at most {self.high:g}"
            return f"a number between {self.low:g} and {self.high:g}"
        return f"a number above {self.low:g}" if self.above else f"a number of at least {self.low:g}"

    def read(self, text: str) -> object:
        """The number written in a text."""
        return _number(text)

    def near(self, value: object) -> str | None:
        """Zero, for a nonzero number too small for a float."""
        close = isinstance(value, str) and _NUMBER.fullmatch(value) is not None and _vanishes(value)
        return "0, from which it cannot be told apart" if close and self.low == 0.0 and not self.above else None

    def accept(self, value: object) -> object:
        """The number as a float."""
        number: float = fitting(value, float)
        if number > self.high or number < self.low or (self.above and number == self.low):
            raise ValueError
        return number


@dataclass(frozen=True)
class Whole(Parameter):
    """A whole number of at least ``low``."""

    low: int = 1

    def describe(self) -> str:
        """The accepted values, phrased to follow "must be"."""
        return f"a whole number of at least {self.low}"

    def read(self, text: str) -> object:
        """The whole number written in a text."""
        return _number(text)

    def accept(self, value: object) -> object:
        """The number as an int."""
        number: int = fitting(value, int)
        # counts stay far below 2^53, and up to there a float represents every whole number exactly
        if not self.low <= number <= 2**53:
            raise ValueError
        return number


@dataclass(frozen=True)
class Choice(Parameter):
    """One of a fixed set of words."""

    choices: tuple[str, ...] = ()

    def describe(self) -> str:
        """The accepted values, phrased to follow "must be"."""
        return f"{', '.join(self.choices[:-1])} or {self.choices[-1]}"

    def read(self, text: str) -> object:
        """The word in lower case."""
        return text.lower()

    def accept(self, value: object) -> object:
        """The word, if it is one of the choices."""
        if not isinstance(value, str) or value not in self.choices:
            raise ValueError
        return value

    def near(self, value: object) -> str | None:
        """The choice closest in spelling."""
        found = get_close_matches(value.lower(), self.choices, n=1) if isinstance(value, str) else []
        return f"'{found[0]}'" if found else None


@dataclass(frozen=True)
class Name(Parameter):
    """The name of a column: any text, quoted as in JSON where the syntax of promises requires it.

    >>> Name("attribute").write("wage"), Name("attribute").write("wage (EUR)"), Name("attribute").read('"wage (EUR)"')
    ('wage', '"wage (EUR)"', 'wage (EUR)')
    """

    def describe(self) -> str:
        """The accepted values, phrased to follow "must be"."""
        return 'the name of a column, in double quotes if it contains anything but letters, as in "wage (EUR)"'

    def read(self, text: str) -> object:
        """The name without its quotes."""
        return json.loads(text) if '"' in text else text

    def write(self, value: object) -> str:
        """The name, quoted where the syntax of promises requires it."""
        name = str(value)
        if name and name == name.strip() and name.isprintable() and not re.search(r'[,()&"]', name):
            return name
        return json.dumps(name, ensure_ascii=not name.isprintable())

    def accept(self, value: object) -> object:
        """Any text."""
        if not isinstance(value, str):
            raise ValueError
        return value


ATTRIBUTE = Name("attribute", optional=True)
"""The sensitive attribute that a promise is about; without it, the promise is about every one that it fits."""
