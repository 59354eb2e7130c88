"""A job: everything that publishing a table needs to know, from a TOML file, from flags, or from both."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.options import Interval, checked, hints_of, read
from discreet.table.date_numbers import ends_given, given_text, rising
from discreet.table.documents import toml
from discreet.table.layout import Header, Layout
from discreet.table.paths import content as whole_file
from discreet.table.paths import located
from discreet.table.texts import MOST_WITHHELD, near

Domain = Annotated[
    tuple[float | str, float | str],
    "two numbers or dates, the smaller first, such as [16, 93] or 16:93",
    lambda ends: rising(*ends),
]
Tree = Annotated[
    str | dict[str, Any],
    "the path of a file, or a table that holds the hierarchy",
    lambda tree: isinstance(tree, str | dict),
]
Second = Annotated[tuple[str, str], 'a file and the identifier in it, such as ["visits.csv", "patient"]']


@dataclass(frozen=True)
class Job:
    """Everything needed to publish a table: input, roles, promises, scheme and output.

    >>> Job.of({"input": "people.csv", "output": "release", "quasi": "age", "promises": "k-anonymity(k=5)"}).promises
    ['k-anonymity(k=5)']
    """

    input: str
    output: str
    quasi: list[str]
    promises: list[str]
    sensitive: list[str] = field(default_factory=list)
    scheme: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    identifiers: list[str] = field(default_factory=list)
    person: str | None = None
    keep: list[str] = field(default_factory=list)
    numeric: list[str] = field(default_factory=list)
    categorical: list[str] = field(default_factory=list)
    ordinal: list[str] = field(default_factory=list)
    hierarchies: dict[str, Tree] = field(default_factory=dict)
    hierarchy_folder: str | None = None
    """A folder with hierarchies for columns not named in ``hierarchies``; in job files also ``hierarchies = "DIR"``."""
    domains: dict[str, Domain] = field(default_factory=dict)
    dates: dict[str, str] = field(default_factory=dict)
    lists: dict[str, str] = field(default_factory=dict)
    join: dict[str, Second] = field(default_factory=dict)
    missing: Literal["error", "withhold", "value"] = "error"
    most_withheld: Annotated[float, "a share of the rows from 0 to 1", Interval(0, 1)] = MOST_WITHHELD
    na: list[str] = field(default_factory=list)
    delimiter: str | None = None
    encoding: str | None = None
    header: Header | None = None
    columns: list[str] = field(default_factory=list)
    format: Literal["csv", "parquet"] = "csv"
    trace: str | None = None
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
        try:
            return cls(**{key: _checked(key, value) for key, value in content.items()}, file=file)
        except DiscreetError as fault:
            raise DiscreetError(f"{source}: {fault}") from None

    @property
    def files(self) -> dict[str, Path]:
        """Every file that the job reads, by description; none of them may be overwritten."""
        paths = {"the input": Path(self.input)}
        if self.file is not None:
            paths["the job file"] = self.file
        for name, source in self.hierarchies.items():
            if isinstance(source, str):
                paths[f"the hierarchy of {name!r}"] = Path(source)
        for name, (source, _) in self.join.items():
            paths[f"the values of {name!r}"] = Path(source)
        if self.hierarchy_folder is not None and (folder := located(self.hierarchy_folder)).is_dir():
            paths |= {f"the hierarchy file {path.name!r}": path for path in folder.iterdir() if path.is_file()}
        return paths

    @property
    def reading(self) -> dict[str, Any]:
        """The arguments of ``discreet.table.read.read`` except the source, the lists of columns and hierarchies."""
        keys = ("person", "domains", "dates", "lists", "join", "missing", "na", *LAYOUT)
        return {key: getattr(self, key) for key in keys}

    @property
    def layout(self) -> Layout:
        """How the input is laid out."""
        return Layout.of(*(getattr(self, key) for key in LAYOUT))

    def without_kept(self) -> Job:
        """Return the job without columns that are published unchanged, and without all declarations about them.

        >>> job = Job(input="a", output="b", quasi=["age"], promises=["k"], keep=["pay"], numeric=["age", "pay"])
        >>> job.without_kept().numeric
        ['age']
        """
        lists: dict[str, Any] = {key: [name for name in getattr(self, key) if name not in self.keep] for key in KINDS}
        tables: dict[str, Any] = {
            key: {name: entry for name, entry in getattr(self, key).items() if name not in self.keep}
            for key in ("hierarchies", "domains")
        }
        return replace(self, keep=[], **lists, **tables)


LAYOUT = ("delimiter", "encoding", "header", "columns")
"""Keys about the layout of the input, in the order of ``Layout.of``."""
KINDS = ("numeric", "categorical", "ordinal")
PATHS = ("input", "output", "trace", "hierarchy_folder")
MERGED = ("options", "hierarchies", "domains", "dates", "lists", "join")
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
        return str(path.parent / located(name)) if isinstance(name, str) and name else name

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
    keys = [key for key in hints_of(Job) if key != "file"]
    for key in content:
        if key not in keys:
            raise DiscreetError(f"{source} has the unknown key {key!r}; {near(key, keys)}")


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


def _domain(value: Any) -> Any:
    """Parse a domain from ``[16, 93]`` or, as in a flag, ``"16:93"``."""
    if isinstance(value, str):
        return ends_given(value) or value
    return [given_text(end) for end in value] if isinstance(value, list) else value


_CONVERTED: dict[str, Callable[[Any], Any]] = {"options": _option, "domains": _domain}
"""How the entries of some lists and tables are converted before they are checked."""


def _checked(key: str, value: Any) -> Any:
    """Return the value of a key in its proper type; raise ``DiscreetError`` if it is another."""
    hint, convert = hints_of(Job)[key], _CONVERTED.get(key, lambda entry: entry)
    if get_origin(hint) is list:
        entries = [value] if isinstance(value, str) else value  # names are split at commas later
        entries = [convert(entry) for entry in entries] if isinstance(entries, list) else entries
        return list(checked(key, entries, Sequence[str]))
    if get_origin(hint) is dict:
        folder = "a folder, or a table of columns and their hierarchies"
        table = checked(key, value, Annotated[dict, folder if key == "hierarchies" else "a table of names and values"])
        return {name: checked(f"{key}.{name}", convert(entry), get_args(hint)[1]) for name, entry in table.items()}
    if NoneType in get_args(hint):
        hint = get_args(hint)[0]
    return checked(key, read(value, hint) if isinstance(value, str) else value, hint)
