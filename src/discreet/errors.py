"""The one exception that users of discreet should see, and the words for all others."""

from __future__ import annotations


class DiscreetError(Exception):
    """An error that the user can fix: the message names the column, the value and the way out.

    The command line prints the message and exits with code 2.

    >>> raise DiscreetError("column 'age' has 3 missing values; choose missing='withhold'")
    Traceback (most recent call last):
        ...
    discreet.errors.DiscreetError: column 'age' has 3 missing values; choose missing='withhold'
    """


def in_words(fault: BaseException) -> str:
    """An unexpected error in one line: its kind, and the beginning of what it says.

    >>> in_words(ValueError("too\\nmany"))
    'ValueError: too many'
    """
    return f"{type(fault).__name__}: {' '.join(str(fault).split())[:200]}"
