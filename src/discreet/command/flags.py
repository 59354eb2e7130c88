"""Parses the values of flags about single columns, such as ``--domain age=16:93``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from discreet.errors import DiscreetError
from discreet.table.fit import FITTING
from discreet.table.paths import located


def pairs(flag: str, texts: Iterable[str], example: str, what: str = "VALUE") -> dict[str, str]:
    """Parse texts of the form NAME=VALUE into a mapping; ``what`` the values are; a SEPARATOR may be a blank.

    >>> pairs("--option", ["loss=ail", "cuts=plain+repaired"], "loss=ail")
    {'loss': 'ail', 'cuts': 'plain+repaired'}
    """
    result: dict[str, str] = {}
    for text in texts:
        # Split at the first equals sign: values such as paths may contain one, column names hardly ever do.
        name, equals, value = text.partition("=")
        name, value = name.strip(), value if what == "SEPARATOR" else value.strip()
        if not equals or not name or not value:
            raise DiscreetError(f"{flag} {text!r} is not of the form NAME={what}; write for example {flag} {example}")
        if name in result:
            raise DiscreetError(f"{flag} names {name!r} twice; give it once")
        result[name] = value
    return result


def parse_trees(texts: Iterable[str]) -> tuple[dict[str, str], str | None]:
    """Parse the values of --hierarchy: the files of single columns, and a folder for the others.

    >>> parse_trees(["sex=sex.csv", "."])
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


def _second_tables(texts: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Parse texts of the form NAME=FILE:ID into a mapping."""
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


def parsed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return flags with those about single columns parsed, so that their keys and values are those of a job.

    >>> flags = {"hierarchies": (), "domains": ("age=16:93",), "dates": ("birth=%d.%m.%Y",), "lists": (), "join": ()}
    >>> flags |= dict.fromkeys(("floor", "weight", *FITTING), ())
    >>> {key: value for key, value in parsed(flags).items() if value}
    {'domains': {'age': '16:93'}, 'dates': {'birth': '%d.%m.%Y'}}
    """
    files, folder = parse_trees(given["hierarchies"])
    return {
        **given,
        "hierarchies": files,
        "hierarchy_folder": folder,
        "domains": pairs("--domain", given["domains"], "age=16:93"),
        "dates": pairs("--date", given["dates"], "birth=%d.%m.%Y"),
        "lists": pairs("--list", given["lists"], "'diagnosis=;'", "SEPARATOR"),
        "floor": pairs("--floor", given["floor"], "age=5"),
        "weight": pairs("--weight", given["weight"], "age=3"),
        **{key: pairs(f"--{key}", given[key], "age=90") for key in FITTING},
        "join": _second_tables(given["join"]),
    }
