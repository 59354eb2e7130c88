"""The one exception that users of discreet should see, on one line, and the words for all others."""

from __future__ import annotations

import re

UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Invisible characters that control a terminal, break a line or reverse the direction of text."""


def visible(text: str) -> str:
    """Return a text safe to print on one line: control characters are shown as escapes.

    >>> print(visible("red \\x1b[31m, two\\nlines"))
    red \\x1b[31m, two\\nlines
    """
    return UNSEEN.sub(lambda control: repr(control[0])[1:-1], text)


PASSWORD = re.compile(r"(?i)(?<![a-z0-9])([a-z][a-z0-9+.-]+:/{1,2}[^\s/:@'\"]*):[^\s]*@")
"""The part of an address up to its password, and the password."""


def without_passwords(text: str) -> str:
    """Return a text in which addresses have no password.

    >>> without_passwords("there is no file 'mysql://ann:horse@db.example/clinic'")
    "there is no file 'mysql://ann@db.example/clinic'"
    """
    return PASSWORD.sub(r"\1@", text)


def legible(message: str) -> str:
    """Return a message on one line, without passwords of addresses; of very long words the middle is cut out.

    >>> len(legible("x" * 5000)), print(legible("no value 'two\\nlines'"))
    no value 'two\\nlines'
    (103, None)
    """
    return re.sub(r"\S{400,}", lambda word: f"{word[0][:80]}...{word[0][-20:]}", visible(without_passwords(message)))


class DiscreetError(Exception):
    """An error that the user can fix: the message names the column, the value and the way out.

    The command line prints the message and exits with code 2. Values in a message may be anything; it is made legible.

    >>> raise DiscreetError("column 'age' has 3 missing values; choose missing='withhold'")
    Traceback (most recent call last):
        ...
    discreet.errors.DiscreetError: column 'age' has 3 missing values; choose missing='withhold'
    """

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(legible(message))
        self.field = field
        """The column, parameter or key that the error is about, if it is about one."""


class MissingParameterError(DiscreetError):
    """Raised where a text leaves out a parameter, ``field``, that what it names needs."""

    def __init__(self, name: str, field: str, advice: str, least: str = "") -> None:
        super().__init__(f"{name} needs its parameter {field}{least}; {advice}", field)
        self.name = name


class UnknownColumnError(DiscreetError):
    """Raised where a source lacks the column ``field``."""


def in_words(fault: BaseException) -> str:
    """An unexpected error in one line: its kind, and the beginning of what it says.

    >>> in_words(ValueError("too\\nmany"))
    'ValueError: too many'
    """
    return f"{type(fault).__name__}: {' '.join(str(fault).split())[:200]}"
