"""A job: everything that publishing a table needs to know, from a TOML file, from flags, or from both."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.options import Interval, checked, hints_of, read
from discreet.table.addresses import Address, addressed, files_among
from discreet.table.documents import toml
from discreet.table.fit import FITTING
from discreet.table.paths import content as whole_file
from discreet.table.paths import located
from discreet.table.spec import TableSpec
from discreet.table.texts import MOST_WITHHELD, near


@dataclass(frozen=True)
class Job:
    """Everything needed to publish a table: input, how it is read, promises, scheme and output.

    >>> job = Job.of({"input": "people.csv", "output": "release", "quasi": "age", "promises": "k-anonymity(k=5)"})
    >>> job.promises, job.table.quasi
    (['k-anonymity(k=5)'], ('age',))
    """

    input: str
    output: str
    promises: list[str]
    table: TableSpec
    """How the input is read; its fields are keys of the job."""
    scheme: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    most_withheld: Annotated[float, "a share of the rows from 0 to 1", Interval(0, 1)] = MOST_WITHHELD
    format: Literal["csv", "parquet"] = "csv"
    engine: Literal["memory", "duckdb", "spark"] = "memory"
    """Where the rows are meanwhile."""
    remote: str | None = None
    """The address of the server of the engine spark, such as sc://host; without it, what the environment says."""
    memory: str | None = None
    """How much memory the engine may take, such as 2GB."""
    trace: str | None = None
    output_table: str | None = None
    """The table of the database ``output`` that the release is written to, in place of a folder."""
    seed: Annotated[int, Interval(0)] | None = None
    force: bool = False
    file: Path | None = None
    """The job file, if any; not one of its keys."""

    @classmethod
    def of(cls, content: Mapping[str, Any], source: str = "the job", file: Path | None = None) -> Job:
        """Build a job from plain values, read from ``file`` if any; errors are one sentence that names the key."""
        _known(content, source)
        for key, (lacking, advice, example) in NEEDED.items():
            if content.get(key) in (None, []):
                raise DiscreetError(f"{lacking}; {advice}" + (f", as in {argument(key, example)}" if example else ""))
        own = {key: value for key, value in content.items() if key not in READ}
        try:
            table = TableSpec(**{key: value for key, value in content.items() if key in READ})
            made = cls(**{key: _checked(key, value) for key, value in own.items()}, table=table, file=file)
            if made.memory is not None and made.engine == "memory":
                raise DiscreetError(
                    f"{argument('memory')} is for another engine; say {argument('engine', 'duckdb')}, or leave it out"
                )
            if made.remote is not None and made.engine != "spark":
                raise DiscreetError(
                    f"{argument('remote')} is for the engine spark; say {argument('engine', 'spark')}, or leave it out"
                )
            return made
        except DiscreetError as fault:
            raise fault if file is None else DiscreetError(f"{source}: {fault}", fault.field) from None

    @property
    def place(self) -> str:
        """What messages call the place of the release."""
        return repr(self.output) if self.output_table is None else f"the table {self.output_table!r} of {self.output!r}"

    @property
    def files(self) -> dict[str, Path]:
        """Every file that the job reads, by description; none of them may be overwritten."""
        paths = files_among({"the input": self.input})
        if self.file is not None:
            paths["the job file"] = self.file
        return paths | self.table.files


READ = tuple(hints_of(TableSpec))
"""The keys that say how the input is read."""
KEYS = (*READ, *(key for key in hints_of(Job) if key not in ("table", "file")))
PATHS = ("input", "output", "trace", "hierarchy_folder")
MERGED = ("options", "hierarchies", "domains", "dates", "lists", "join", "floor", "weight", *FITTING)
"""Keys whose entries flags override one by one; flags replace any other key as a whole."""
SINGULAR = {key.removesuffix("s"): key for key in ("promises", "options", "identifiers", "domains", "dates", "lists")}
SINGULAR["hierarchy"] = "hierarchies"
"""The singular names of the flags, which job files may also use as keys."""


def read_job(path: Path) -> dict[str, Any]:
    """Read a job file; its paths, which are relative to the file, become relative to the working folder."""
    what = f"the job file '{path}'"
    try:
        text = whole_file(located(path), f"'{path}' for the job").decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DiscreetError(f"{what} is not in UTF-8; save it again as UTF-8") from None
    content = toml(text, what)
    for singular, plural in SINGULAR.items():
        if singular in content:
            if plural in content:
                raise DiscreetError(f"{what} has both {singular!r} and {plural!r}; keep one of them")
            content[plural] = content.pop(singular)
    _known(content, what)

    def beside(name: Any) -> Any:
        if not isinstance(name, str) or not name or isinstance(addressed(name), Address):
            return name
        return str(path.parent / located(name))

    if isinstance(content.get("hierarchies"), str):
        content["hierarchy_folder"] = content.pop("hierarchies")
    for key in PATHS:
        if key in content:
            content[key] = beside(content[key])
    if isinstance(content.get("join"), dict):
        content["join"] = {
            name: [beside(second[0]), *second[1:]] if isinstance(second, list) and second else second
            for name, second in content["join"].items()
        }
    if isinstance(content.get("hierarchies"), dict):
        content["hierarchies"] = {name: beside(source) for name, source in content["hierarchies"].items()}
    return content


def as_toml(content: Mapping[str, Any]) -> str:
    """Write a job as `read_job` reads it: keys with texts, lists of texts, or tables of texts.

    >>> print(as_toml({"input": "a.csv", "quasi": ["age", "sex"], "hierarchies": {"sex": "s.csv"}}))
    input = "a.csv"
    quasi = ["age", "sex"]
    hierarchies = { "sex" = "s.csv" }
    """
    return "\n".join(f"{key} = {_written(value)}" for key, value in content.items())


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_written(key)} = {_written(held)}" for key, held in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_written, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # which TOML reads only like this


def make_job(file: str | None, flags: Mapping[str, Any], ignored: Collection[str] = ()) -> Job:
    """Build a job from flags and a job file, if any, of which some keys may be ignored."""
    if file is None:
        return Job.of(merged({}, flags), "the flags")
    path = Path(file)
    content = {key: value for key, value in read_job(path).items() if key not in ignored}
    return Job.of(merged(content, flags), f"the job file '{path}'", path)


def merged(content: Mapping[str, Any], flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a job file overridden by flags; flags that were not given are None, False or empty.

    >>> merged({"quasi": ["age"], "options": {"loss": "ail"}}, {"quasi": (), "options": {"effort": "fast"}})
    {'quasi': ['age'], 'options': {'loss': 'ail', 'effort': 'fast'}}
    """
    result = dict(content)
    for key, value in flags.items():
        if value is None or value is False or (not value and isinstance(value, (tuple, list, dict))):
            continue
        if key in MERGED and isinstance(result.get(key), dict):
            result[key] = {**result[key], **value}
        else:
            result[key] = list(value) if isinstance(value, tuple) else value
    return result


def _known(content: Mapping[str, Any], source: str) -> None:
    for key in content:
        if key not in KEYS:
            raise DiscreetError(f"{source} has the unknown key {key!r}; {near(key, KEYS)}")


NEEDED: dict[str, tuple[str, str, Any]] = {
    "input": ("no input is named", "give the file with the table", None),
    "output": ("no output is named", "give the folder for the release", "release"),
    "quasi": ("no quasi-identifier is named", "say which columns an attacker may know", ["age", "sex"]),
    "promises": ("no promise is named", "ask for one", ["beta-likeness(beta=2)"]),
}
"""The keys that every job has; what is said if one is missing, the advice, and an example of its value."""


def _option(value: Any) -> Any:
    """Convert an option to the text of a flag: lower-case booleans, lists joined by plus signs."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "+".join(value)
    return repr(value) if isinstance(value, (int, float)) else value


def _checked(key: str, value: Any) -> Any:
    """Return the value of a key in its proper type; raise ``DiscreetError`` if it is another."""
    hint = hints_of(Job)[key]
    if key in ("input", "output") and isinstance(value, str):
        return addressed(value)
    if key == "promises":
        return list(checked(key, [value] if isinstance(value, str) else value, Sequence[str]))
    if key == "options":
        options = checked(key, value, Annotated[dict, "a table of names and values"])
        return {name: checked(f"{key}.{name}", _option(entry), str) for name, entry in options.items()}
    if NoneType in get_args(hint):
        hint = get_args(hint)[0]
    return checked(key, read(value, hint) if isinstance(value, str) else value, hint)
