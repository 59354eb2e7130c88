"""Flags that several commands share, and the parsing of their values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from discreet.command.console import QUIETLY
from discreet.errors import DiscreetError
from discreet.table.paths import located, system_path

Command = TypeVar("Command", bound=Callable[..., Any])


class File(click.Path):
    """A path that click does not check: missing files are reported when they are opened, in discreet's own words."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path as the system has it."""
        return system_path(value)


FILE = File()


CATALOGUED = {"PROMISE": "PRINCIPLES", "SCHEME": "SCHEMES", "SCHEMES": "SCHEMES", "ATTACK": "ATTACKS"}
"""Per value of a flag the registry in the catalogue that shells complete it from."""


def completed_from(registry: str) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return what click asks for the names in a registry of the catalogue; in a list, the last one is completed."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from discreet import catalogue

        names = getattr(catalogue, registry)
        before, comma, begun = incomplete.rpartition(",")
        return [
            CompletionItem(before + comma + name, help=names.summary(name)) for name in names if name.startswith(begun)
        ]

    return complete


def valued(name: str, metavar: str, help: str, **how: Any) -> Callable[[Command], Command]:
    """Define a flag with a value; ``name`` ends with that of its argument where it differs: "--date dates"."""
    if metavar in CATALOGUED:
        how["shell_complete"] = completed_from(CATALOGUED[metavar])
    return click.option(*name.split(), metavar=metavar, help=help, **how)


def many(name: str, help: str, metavar: str = "COLUMNS") -> Callable[[Command], Command]:
    """Define a flag that can be repeated, such as one for columns, which may also be separated by commas."""
    return valued(name, metavar, help, multiple=True)


def path(name: str, help: str, metavar: str = "FILE", **how: Any) -> Callable[[Command], Command]:
    """Define a flag for a file or a folder."""
    return valued(name, metavar, help, type=FILE, **how)


ROLES = (
    many("--quasi", "Columns an attacker may know, separated by commas."),
    valued("--sensitive", "COLUMNS", "Columns whose values are protected."),
)
PERSON = valued(
    "--person",
    "COLUMN",
    "Column identifying each row's person, if people have several rows. Promises then apply to people; the column "
    "is not published.",
)
IDENTIFIERS = many("--identifier identifiers", "Columns that name a person; they are not published.")
MISSING = valued(
    "--missing",
    "WAY",
    "What to do about missing numbers: error (default), withhold their rows, or value, which treats missing as a "
    "value like any other.",
    type=click.Choice(["error", "withhold", "value"]),
)
KINDS = (
    many("--numeric", "Columns to read as numbers."),
    many("--categorical", "Columns to read as names, even if they look like numbers."),
    many("--ordinal", "Columns whose values have an order."),
    many("--hierarchy hierarchies", "Hierarchy as CSV (leaf first) or TOML, or a folder of such files.", "COLUMN=FILE"),
    many("--domain domains", "Range of possible numbers or dates.", "COLUMN=LOW:HIGH"),
)
FORMATS = (
    valued("--delimiter", "CHAR", "Character that separates cells (default: detected)."),
    valued("--encoding", "NAME", "Encoding of the input (default: detected)."),
    many("--na", "Text that means missing, such as NA. Repeatable.", "TEXT"),
    many("--date dates", "Format of dates, such as %d.%m.%Y, if it is ambiguous.", "COLUMN=FORMAT"),
)
SEVERAL = (
    many("--list lists", "Sensitive column with several values per cell: diagnosis=';'.", "COLUMN=SEPARATOR"),
    many("--join", "Sensitive column of a second table, linked by the column ID.", "COLUMN=FILE:ID"),
)
HARMLESS = many("--harmless", "Value that is not sensitive, for the scheme codip.", "COLUMN=VALUE")
JSON = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON and nothing else.")
QUIET = click.option(
    "-q",
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=lambda context, _, value: context.meta.update({QUIETLY: value}),
    help="No notes and no progress; no output at all if promises hold.",
)


class WithPlugins(click.Command):
    """A command whose help ends with the names that plug-ins add, without importing the plug-ins."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the names of the plug-ins' schemes, promises, formats and attacks."""
        from discreet.plugins import Group, plugged_names

        super().format_epilog(ctx, formatter)
        groups: tuple[Group, ...] = ("schemes", "principles", "formats", "attacks")
        added = [f"{group} {', '.join(names)}" for group in groups if (names := plugged_names(group))]
        if added:
            formatter.write_paragraph()
            formatter.write_text(f"From plug-ins: {'; '.join(added).replace('principles', 'promises')}.")


def with_flags(*flags: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Add flags to a command; the help lists them in this order."""

    def add(command: Command) -> Command:
        for flag in reversed(flags):
            command = flag(command)
        return command

    return add


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
    from discreet.table.moments import ends_given, rising
    from discreet.table.texts import number_text

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
        from discreet.table.sources import names_in

        parts = [part.strip() for text in hints for part in (text, *text.split(","))]
        return names_in(path, delimiter, encoding, parts)

    return names
