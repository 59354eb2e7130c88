"""How messages refer to an argument: as a Python argument, or as a flag of the command line.

Messages build their advice with `argument`, so that it suits the caller. Python arguments are the default; the command
line switches to flags once, before it starts a command.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_FLAGS: ContextVar[bool] = ContextVar("flags", default=False)

FLAG_OF = {
    "identifiers": "identifier",
    "hierarchies": "hierarchy",
    "domains": "domain",
    "dates": "date",
    "lists": "list",
    "others": "with",
    "promises": "promise",
}
"""Arguments whose flag has another name: a singular one, because it is repeated for each value."""
SHORT = {"output": "-o"}
"""Arguments whose flag is known by one letter."""


@contextmanager
def speaking_flags() -> Iterator[None]:
    """Make all messages built inside this context name flags instead of Python arguments."""
    token = _FLAGS.set(True)
    try:
        yield
    finally:
        _FLAGS.reset(token)


def argument(name: str, value: Any = None) -> str:
    """Write an argument and its value as Python, or as flags inside `speaking_flags`; only the name without a value.

    >>> argument("missing", "value"), argument("quasi", ["age", "sex"]), argument("force", True), argument("quasi")
    ("missing='value'", "quasi=['age', 'sex']", 'force=True', 'quasi')
    >>> with speaking_flags():
    ...     argument("missing", "value"), argument("quasi", ["age", "sex"]), argument("force", True), argument("quasi")
    ('--missing value', '--quasi age,sex', '--force', '--quasi')
    >>> with speaking_flags():
    ...     print(argument("na", ["NA", "?"]), argument("dates", {"birth": "%d.%m.%Y"}), argument("most_withheld", 0.1))
    --na NA --na '?' --date birth=%d.%m.%Y --most-withheld 0.1
    """
    if _FLAGS.get():
        return command_line(as_flags(name, value))
    return name if value is None else f"{name}={value!r}"


def as_flags(name: str, value: Any = None) -> list[str]:
    """Return the command-line words that are equivalent to a Python argument.

    >>> as_flags("categorical", ["race", "sex", "pay, monthly"])
    ['--categorical', 'race,sex', '--categorical', 'pay, monthly']
    """
    flag = SHORT.get(name) or f"--{FLAG_OF.get(name, name).replace('_', '-')}"
    if value is None or value is True:
        return [flag]
    if isinstance(value, dict):
        marks: dict[type, str] = {tuple: ":", list: ","}
        pairs = {key: (item, marks.get(type(item))) for key, item in value.items()}
        texts = [f"{key}={mark.join(map(str, item)) if mark else item}" for key, (item, mark) in pairs.items()]
    elif isinstance(value, float):
        texts = [f"{value:g}"]
    elif isinstance(value, str):
        texts = [value]
    elif name == "na":
        texts = list(value)
    else:
        plain = [text for text in value if "," not in text]
        texts = [",".join(plain)] * bool(plain) + [text for text in value if "," in text]
    return [word for text in texts for word in (flag, text)]


def command_line(words: Sequence[str]) -> str:
    """Join words into one command line, quoted for the shell of this system.

    >>> command_line(["discreet", "profile", "people.csv"])
    'discreet profile people.csv'
    """
    import shlex
    import subprocess

    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)
