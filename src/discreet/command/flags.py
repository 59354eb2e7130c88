"""Parses the values of flags."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from discreet.errors import DiscreetError
from discreet.table.moments import ends_given, rising
from discreet.table.paths import located
from discreet.table.sources import names_in
from discreet.table.texts import number_text


def pairs(flag: str, texts: Iterable[str], example: str) -> dict[str, str]:
    """Parse texts of the form NAME=VALUE into a mapping.

    >>> pairs("--option", ["loss=ail", "cuts=plain+repaired"], "loss=ail")
    {'loss': 'ail', 'cuts': 'plain+repaired'}
    """
    result: dict[str, str] = {}
    for text in texts:
        # Split at the first equals sign: values such as paths may contain one, column names hardly ever do.
        name, equals, value = text.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise DiscreetError(f"{flag} {text!r} is not of the form NAME=VALUE; write for example {flag} {example}")
        if name.strip() in result:
            raise DiscreetError(f"{flag} names {name.strip()!r} twice; give it once")
        result[name.strip()] = value.strip()
    return result


def trees(texts: Iterable[str]) -> tuple[dict[str, str], str | None]:
    """Parse the values of --hierarchy: the files of single columns, and a folder for the others.

    >>> trees(["sex=sex.csv", "."])
    ({'sex': 'sex.csv'}, '.')
    """
    texts = list(texts)
    folders = [text for text in texts if located(text).is_dir()]
    if len(folders) > 1:
        raise DiscreetError(f"--hierarchy names two folders, {folders[0]!r} and {folders[1]!r}; give one")
    for text in texts:
        if "=" not in text and text not in folders:
            raise DiscreetError(
                f"--hierarchy {text!r} is neither a folder nor of the form NAME=FILE; write for example --hierarchy "
                "sex=sex.csv"
            )
    files = pairs("--hierarchy", [text for text in texts if text not in folders], "sex=sex.csv")
    return files, folders[0] if folders else None


def domains(texts: Iterable[str]) -> dict[str, tuple[float | str, float | str]]:
    """Parse texts of the form NAME=LOW:HIGH into a mapping.

    >>> domains(["age=16:93"])
    {'age': (16.0, 93.0)}
    """
    result = {}
    for name, value in pairs("--domain", texts, "age=16:93").items():
        ends = ends_given(value)
        if ends is None:
            raise DiscreetError(
                f"--domain {name}={value} is not a range of numbers or dates; write for example --domain {name}=16:93"
            )
        if not rising(*ends):
            low, high = (end if isinstance(end, str) else number_text(end) for end in ends)
            raise DiscreetError(
                f"--domain {name}={value} begins with the larger number; write --domain {name}={high}:{low}"
            )
        result[name] = ends
    return result


def separators(texts: Iterable[str]) -> dict[str, str]:
    """Parse texts of the form NAME=SEPARATOR into a mapping; a separator may be a blank.

    >>> separators(["ill=;", "pets= "])
    {'ill': ';', 'pets': ' '}
    """
    result = {}
    for text in texts:
        name, equals, separator = text.partition("=")
        if not equals or not name.strip() or not separator:
            raise DiscreetError(
                f"--list {text!r} is not of the form NAME=SEPARATOR; write for example --list 'diagnosis=;'"
            )
        result[name.strip()] = separator
    return result


def second_tables(texts: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Parse texts of the form NAME=FILE:ID into a mapping.

    >>> second_tables(["ill=visits.csv:patient"])
    {'ill': ('visits.csv', 'patient')}
    """
    result = {}
    for name, text in pairs("--join", texts, "diagnosis=visits.csv:patient").items():
        file, colon, identifier = text.rpartition(":")
        if not colon or not file or not identifier:
            raise DiscreetError(
                f"--join {name}={text} does not name a file and the identifier in it; write for example --join "
                f"{name}=visits.csv:patient"
            )
        result[name] = (file, identifier)
    return result


def by_column(given: Mapping[str, Any]) -> dict[str, Any]:
    """Parse all flags about single columns; their keys are those of a job.

    >>> flags = {"hierarchies": (), "domains": ("age=16:93",), "dates": ("birth=%d.%m.%Y",), "lists": (), "join": ()}
    >>> {key: value for key, value in by_column(flags).items() if value}
    {'domains': {'age': (16.0, 93.0)}, 'dates': {'birth': '%d.%m.%Y'}}
    """
    files, folder = trees(given["hierarchies"])
    return {
        "hierarchies": files,
        "hierarchy_folder": folder,
        "domains": domains(given["domains"]),
        "dates": pairs("--date", given["dates"], "birth=%d.%m.%Y"),
        "lists": separators(given["lists"]),
        "join": second_tables(given["join"]),
    }


def split_names(texts: Iterable[str], header: Callable[[], Sequence[str]]) -> list[str]:
    """Split comma-separated texts into column names; a text that is itself a column name is kept whole.

    >>> split_names(["age, sex", "pay, monthly"], lambda: ["age", "sex", "pay, monthly"])
    ['age', 'sex', 'pay, monthly']
    """
    names: list[str] = []
    for text in texts:
        # Only an ambiguous text makes it necessary to read the file's header.
        if ("," not in text and text == text.strip()) or text in header():
            names.append(text)
        else:
            names += [part.strip() for part in text.split(",") if part.strip()]
    return names


def header_of(
    path: str, delimiter: str | None, encoding: str | None, hints: Iterable[str] = ()
) -> Callable[[], list[str]]:
    """Return a function that reads the column names of an input file, in their order, when it is first called."""

    @cache
    def names() -> list[str]:
        parts = [part.strip() for text in hints for part in (text, *text.split(","))]
        return names_in(path, delimiter, encoding, parts)

    return names
