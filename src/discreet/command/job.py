"""A job: everything `discreet publish` needs to know, from a TOML file, from flags, or from both."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    PrivateAttr,
    ValidationError,
)

from discreet.errors import DiscreetError
from discreet.table.documents import toml
from discreet.table.moments import ends_given, given_text, rising
from discreet.table.paths import content as whole_file
from discreet.table.paths import located
from discreet.table.texts import MOST_WITHHELD, near


def _names(value: Any) -> Any:
    """Wrap a single text in a list; it is split at commas later."""
    return [value] if isinstance(value, str) else value


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


def _rising(value: tuple[float | str, float | str]) -> tuple[float | str, float | str]:
    if not rising(*value):
        raise ValueError
    return value


Place = InstanceOf[str]
"""A path; bytes that are not valid text appear as surrogates in it, which pydantic's own type ``str`` would refuse."""
Names = Annotated[list[str], BeforeValidator(_names)]
Text = Annotated[str, BeforeValidator(_option)]
Domain = Annotated[tuple[float | str, float | str], BeforeValidator(_domain), AfterValidator(_rising)]


class Job(BaseModel):
    """Everything needed to publish a table: input, roles, promises, scheme and output.

    >>> Job.of({"input": "people.csv", "output": "release", "quasi": "age", "promises": "k-anonymity(k=5)"}).promises
    ['k-anonymity(k=5)']
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: Place
    output: Place
    quasi: Names = Field(min_length=1)
    sensitive: Names = []
    promises: Names = Field(min_length=1)
    scheme: str | None = None
    options: dict[str, Text] = {}
    identifiers: Names = []
    person: str | None = None
    keep: Names = []
    numeric: Names = []
    categorical: Names = []
    ordinal: Names = []
    hierarchies: dict[str, Place | dict[str, Any]] = {}
    hierarchy_folder: Place | None = None
    """A folder with hierarchies for columns not named in ``hierarchies``; in job files also ``hierarchies = "DIR"``."""
    domains: dict[str, Domain] = {}
    dates: dict[str, str] = {}
    lists: dict[str, str] = {}
    join: dict[str, tuple[Place, str]] = {}
    missing: Literal["error", "withhold", "value"] = "error"
    most_withheld: float = Field(MOST_WITHHELD, ge=0, le=1)
    na: Annotated[list[Text], BeforeValidator(_names)] = []
    delimiter: str | None = None
    encoding: str | None = None
    format: Literal["csv", "parquet"] = "csv"
    trace: Place | None = None
    seed: int | None = Field(None, ge=0)
    force: bool = False
    _file: Path | None = PrivateAttr(None)

    @classmethod
    def of(cls, content: Mapping[str, Any], source: str = "the job", file: Path | None = None) -> Job:
        """Build a job from plain values, read from ``file`` if any; errors are one sentence that names the key."""
        _known(content, source)
        try:
            job = cls.model_validate(dict(content))
        except ValidationError as faults:
            raise DiscreetError(_sentence(faults, source)) from None
        job._file = file
        return job

    @property
    def files(self) -> dict[str, Path]:
        """Every file that the job reads, by description; none of them may be overwritten."""
        paths = {"the input": Path(self.input)}
        if self._file is not None:
            paths["the job file"] = self._file
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
        keys = ("person", "domains", "dates", "lists", "join", "missing", "na", "delimiter", "encoding")
        return {key: getattr(self, key) for key in keys}

    def without_kept(self) -> Job:
        """Return the job without columns that are kept along, and without all declarations about them.

        >>> job = Job(input="a", output="b", quasi=["age"], promises=["k"], keep=["pay"], numeric=["age", "pay"])
        >>> job.without_kept().numeric
        ['age']
        """
        lists = {key: [name for name in getattr(self, key) if name not in self.keep] for key in KINDS}
        tables = {
            key: {name: entry for name, entry in getattr(self, key).items() if name not in self.keep}
            for key in ("hierarchies", "domains")
        }
        return self.model_copy(update={**lists, **tables, "keep": []})


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
    for key in content:
        if key not in Job.model_fields:
            raise DiscreetError(f"{source} has the unknown key {key!r}; {near(key, Job.model_fields)}")


_WORDS = {
    "list": "must be a list of texts",
    "string": "must be a text",
    "string_unicode": "must be a text in UTF-8",
    "is_instance_of": "must be a text",
    "bool": "must be true or false",
    "int": "must be a whole number",
    "float": "must be a number",
    "greater_than_equal": "must be a whole number of at least 0",
    "dict": "must be a table of names and values",
    "too_short": "must not be empty",
}
"""What pydantic's errors mean, by their names or the beginnings of these, ``int`` for ``int_parsing``."""
_OF_KEYS = {
    "domains": "must be two numbers or dates, the smaller first, such as [16, 93] or 16:93",
    "join": 'must be a file and the identifier in it, such as ["visits.csv", "patient"]',
    "most_withheld": "must be a share of the rows from 0 to 1",
}
"""What the values of some keys must be, whatever is wrong with them."""
_NEEDED = {
    "input": "no input is named; give the file with the table",
    "output": "no output is named; give the folder for the release, as in -o release",
    "quasi": "no quasi-identifier is named; say which columns an attacker may know, as in --quasi age,sex",
    "promises": "no promise is named; ask for one, as in --promise 'beta-likeness(beta=2)'",
}


def _sentence(faults: ValidationError, source: str) -> str:
    """Return the first error that pydantic found, as a sentence for the user."""
    fault = faults.errors(include_url=False)[0]
    place = [str(part) for part in fault["loc"] if part not in ("str", "dict[str,any]")]
    key, kind = place[0], fault["type"]
    if key in _NEEDED and (kind == "missing" or (kind == "too_short" and len(place) == 1)):
        return _NEEDED[key]
    name = ".".join(place[:2]) if key in MERGED else key
    if kind == "missing" and key != "domains":
        return f"{source}: {name} is missing"
    if key in _OF_KEYS:
        problem = _OF_KEYS[key]
    elif key == "hierarchies" and len(place) == 1:
        problem = "must be a folder, or a table of columns and their hierarchies"
    elif key == "hierarchies":
        problem = "must be the path of a file, or a table that holds the hierarchy"
    elif kind == "literal_error":
        problem = f"must be {fault['ctx']['expected'].replace(chr(39), '')}"
    else:
        said = fault["msg"][:1].lower() + fault["msg"][1:]
        problem = _WORDS.get(kind) or _WORDS.get(kind.partition("_")[0], said)
    return f"{source}: {name} {problem}, not {fault['input']!r}; correct it, or leave it out"
