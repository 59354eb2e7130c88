"""`readme`: what README.md in the folder of a release says, which follows from the manifest and says nothing beyond it.

Equal manifests give equal texts, so that an audit can make the text anew and compare. Names and values are the
publisher's or people's, and may be written in any way: they stand in code spans, where Markdown has no signs, and those
that a line cannot hold are written as JSON, as in descriptions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from discreet.catalogue import FORMATS, PRINCIPLES
from discreet.principles.wording import counted, listed
from discreet.releases.labels import interval
from discreet.table.texts import number_text

Entry = Mapping[str, Any]

TITLE = "# A protected release"
"""The first line, by which the file is known."""
SHOWN = 6
"""How many values of an attribute are named, and how many labels."""
LONGEST = 80
"""Of longer values the beginning is shown."""
NAMED = {"numeric": "number", "datetime": "date and time", "ordinal": "ordered value", "categorical": "category"}
"""What the kinds of attributes are called, where that differs from the manifest."""
ROLES = {"quasi": "quasi-identifier", "sensitive": "sensitive", "other": "kept"}
EXACT = "Published as it was."
LISTED = "Its values are listed for each group, as they were."
RESERVED = re.compile(
    "alter|and|any|as|between|case|create|cross|current_date|current_time|current_timestamp|current_user|"
    "distinct|drop|else|except|false|fetch|for|from|glob|grant|having|ilike|inner|insert|intersect|into|"
    "join|lateral|like|not|notnull|null|on|or|outer|partitioned_by|qualify|regexp|returning|revoke|rlike|"
    "rollback|select|tablesample|then|true|uncache|union|using|when|where|with|xor",
    re.IGNORECASE,
)
"""Names that queries take for something else unless they stand in brackets."""


def readme(manifest: Entry) -> str:
    """Return the text for a manifest.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> release = dc.publish(patients(), dc.KAnonymity(4))
    >>> text = readme({**release.manifest, "tables": {"table.csv": {"sha256": ""}}})
    >>> print(next(line for line in text.splitlines() if "sex" in line))  # doctest: +NORMALIZE_WHITESPACE
    - `sex`: quasi-identifier, category. Values: `F` and `M`. A cell is a value, a set of values in braces, `(missing)`
    or `*`, which is anything.
    """
    attributes = manifest["attributes"]
    paragraphs = [
        [TITLE],
        [*_opening(manifest)],
        [*_facts(manifest)],
        ["## What is promised"],
        [*_promises(manifest)],
        ["## Files"],
        [*_files(manifest)],
        ["## Columns"],
        [_column(attribute, manifest) for attribute in attributes],
        ["## How to count"],
        *_counting(manifest),
        ["## What you may assume"],
        [f"- {prose(sentence)}" for sentence in _texts(manifest.get("assumptions"))],
        [_not_promised(manifest)],
    ]
    return "\n\n".join("\n".join(lines) for lines in paragraphs if lines) + "\n"


# -------------------------------------------------------------------------------------------------------------- escapes


def shown(text: str) -> str:
    r"""Return a name or a value for one line: as JSON, if it holds what cannot be seen or would be misread.

    >>> print(shown("zip code"), shown("a\nb"), shown('"'), shown(" "))
    zip code "a\nb" "\"" " "
    """
    plain = text.isprintable() and text.strip() == text != "" and not set(text) & {'"', "\\"}
    return text if plain else json.dumps(text, ensure_ascii=False)


def code(text: str) -> str:
    """Return a name or a value as a code span."""
    return span(shown(text))


def span(text: str) -> str:
    """Return a text as a code span, in which Markdown knows no signs but backticks.

    >>> print(span("age"), span("<b>|*"), span("a`b``"), span("`"))
    `age` `<b>|*` ``` a`b`` ``` `` ` ``
    """
    text = _visible(text)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence, blank = "`" * (longest + 1), " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{blank}{text}{blank}{fence}"


def prose(sentence: str) -> str:
    r"""Return a sentence in which no sign is one of Markdown's.

    >>> print(prose("The column '<i>a_b' is *."))
    The column '\<i\>a\_b' is \*.
    """
    return re.sub(r"([\\`*_\[\]<>#&|~$@])", r"\\\1", _visible(sentence))


def _visible(text: str) -> str:
    """Return a text with signs that change how others are seen, such as line breaks, as escapes."""
    return "".join(sign if sign.isprintable() else json.dumps(sign)[1:-1] for sign in text)


def _codes(texts: Iterable[str], more: int = 0) -> str:
    """Return some texts as a list, which says how many there are besides those that it names."""
    named = list(texts)
    few = named if len(named) + bool(more) <= SHOWN + 1 else named[: SHOWN - 1]
    more += len(named) - len(few)
    return listed([*map(_begun, few), *([f"{more:,} more"] if more else [])])


def _begun(text: str) -> str:
    """Return a value as a code span, of a long one the beginning."""
    return code(text) if len(text) <= LONGEST else f"{code(text[:LONGEST])}..."


def _texts(value: Any) -> list[str]:
    """Return the texts of a list in a manifest, which may be damaged."""
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


# ------------------------------------------------------------------------------------------------------------- overview


def _opening(manifest: Entry) -> Iterator[str]:
    yield (
        "This folder holds data about people, changed so that what it reveals about anyone is bounded. Do not count it "
        "like a plain table: see below."
    )
    yield (
        f"discreet {code(str(manifest.get('discreet')))} wrote this page from `release.json`, which has all details. "
        "The page says nothing beyond it, and an audit makes it anew and compares."
    )
    if manifest.get("experimental_seed"):
        yield "**This release was drawn from a seed, for an experiment: it protects nobody from who knows the seed.**"


def _facts(manifest: Entry) -> Iterator[str]:
    """Yield how many rows there are, and what the format and the scheme are called."""
    for what, key in (("Rows", "rows"), ("Persons", "persons")):
        numbers = manifest.get(key)
        if isinstance(numbers, dict):
            published, withheld = (f"{numbers[key]:,}" for key in ("published", "withheld"))
            yield f"- {what}: {published} published, {withheld} withheld."
    format, scheme = str(manifest["format"]), manifest.get("scheme")
    yield f"- Format: {code(format)}. {prose(FORMATS.summary(format))}"
    if isinstance(scheme, dict):
        yield f"- Made by the scheme {code(str(scheme.get('name')))}."


def _parts(manifest: Entry) -> list[tuple[str, Any]]:
    """Return the ending of the names of the tables of each part, and the class of its format; most have one part."""
    parts = manifest.get("parts")
    if not isinstance(parts, list):
        return [("", FORMATS[str(manifest["format"])].release)]
    named = ((number, str(part.get("format", "generalized"))) for number, part in enumerate(parts, 1))
    return [(f"_{number}", FORMATS[name].release) for number, name in named]


def _contents(kind: Any) -> dict[str, str]:
    """Return what stands in the tables of a format, by how their names begin."""
    return {start: what for base in reversed(kind.__mro__) for start, what in vars(base).get("contents", {}).items()}


def _stems(manifest: Entry) -> dict[str, str]:
    """Return the stem of each table, by its file."""
    return {name: name.rpartition(".")[0] for name in manifest["tables"]}


def _files(manifest: Entry) -> Iterator[str]:
    yield "- `release.json`: all that is known about columns, files and promises, for programs."
    for name, stem in sorted(_stems(manifest).items()):
        known = (
            what
            for ending, kind in _parts(manifest)
            for start, what in _contents(kind).items()
            if stem == start + ending or (stem.startswith(f"{start}_") and (not ending or stem.endswith(ending)))
        )
        what = next(known, "")
        yield f"- {code(name)}: {prose(what)}." if what else f"- {code(name)}"


# -------------------------------------------------------------------------------------------------------------- columns


def _column(attribute: Entry, manifest: Entry) -> str:
    """Return the entry of a column in the codebook."""
    role, kind = str(attribute["role"]), str(attribute["kind"])
    head = f"{ROLES.get(role, role)}, {NAMED.get(kind, kind)}{_range(attribute)}."
    if role == "other":
        how = ["Published as it was. The promise does not cover it."]
    elif role == "sensitive":
        how = [*_values(attribute), *_fitted(attribute), *_sensitive_cells(attribute, manifest)]
    else:
        kinds = [kind for _, kind in _parts(manifest)]
        exact = all(kind.exact_quasi for kind in kinds)
        cells = [EXACT] if exact else [LISTED] if kinds[0].hides_presence else [*_cells(attribute)]
        how = [*_values(attribute), *_fitted(attribute), *(cells if _of_people(manifest) else [])]
    return f"- {code(str(attribute['name']))}: {' '.join([head, *how])}"


def _of_people(manifest: Entry) -> bool:
    return all(kind.of_people for _, kind in _parts(manifest))


def _end(value: Any) -> str:
    return number_text(value) if isinstance(value, int | float) else str(value)


def _domain(attribute: Entry) -> list[Any]:
    """Return the ends of the domain; nothing if there is none."""
    ends = attribute.get("domain")
    return ends if isinstance(ends, list) and len(ends) == 2 else []


def _range(attribute: Entry) -> str:
    return " from {} to {}".format(*map(_end, ends)) if (ends := _domain(attribute)) else ""


def _leaves(attribute: Entry) -> tuple[list[str], int]:
    """Return the values that the manifest names, and how many others there are."""
    found = [*(attribute.get("hierarchy") or attribute.get("values") or ())]
    found = [row[0] if isinstance(row, list) else row for row in found]
    return _texts(found), sum(each for each in found if isinstance(each, int))


def _values(attribute: Entry) -> Iterator[str]:
    """Yield which values there are, and whose they are in part."""
    derived = attribute.get("derived")
    if isinstance(derived, dict):
        value, of = code(str(derived.get("value"))), code(str(derived.get("attribute")))
        yield f"It says who has {value} among the values of {of}."
    named, more = _leaves(attribute)
    if attribute["kind"] in ("ordinal", "categorical") and named:
        yield f"{'In ascending order' if attribute['kind'] == 'ordinal' else 'Values'}: {_codes(named, more)}."
    elif more:
        yield f"It has {counted(more, 'value')}, and no cell names one."


def _fitted(attribute: Entry) -> Iterator[str]:
    """Yield what the publisher did to the values before anything else."""
    if "bins" in attribute:
        yield "Each of them is a bin of numbers."
    for key, what in (("bottom", "Smaller numbers count as"), ("top", "Larger numbers count as")):
        if key in attribute:
            yield f"{what} {_end(attribute[key])}."
    if "round" in attribute:
        yield f"Rounded to multiples of {_end(attribute['round'])}."
    floor = attribute.get("floor")
    if floor is not None and attribute["kind"] == "categorical":
        yield f"Only the first characters of the values are kept, {code(str(floor))} of them."
    elif floor is not None:
        yield f"Nothing finer than {code(str(floor))} is published."


def _cells(attribute: Entry) -> Iterator[str]:
    """Yield how the cells of a described quasi-identifier are written."""
    kind, tree = attribute["kind"], attribute.get("hierarchy")
    labels = list[str]()
    if isinstance(tree, list):
        labels = _texts([label for row in tree if isinstance(row, list) for label in row[1:-1]])
    ways = ["a value"]
    if kind == "categorical":
        ways.append("a set of values in braces")
    elif kind == "ordinal":
        ways.append("an interval of this order with both ends included")
    else:
        example = f" such as {span(interval(*map(_end, ends)))}" if (ends := _domain(attribute)) else ""
        ways.append(f"an interval{example} with both ends included")
    if labels:
        ways.append(f"a label ({_codes(dict.fromkeys(labels))}) for all values below it")
    elif "recipe" in attribute:
        ways.append(f"a label by the recipe {span(json.dumps(attribute['recipe'], ensure_ascii=False))}")
    yield f"A cell is {', '.join([*ways, '`(missing)`'])} or `*`, which is anything."
    if "unit" in attribute:
        yield f"Intervals end on a grid with the unit {_end(attribute['unit'])}, so nobody need be at an end."
    if "step" in attribute:
        yield f"All numbers are multiples of {_end(attribute['step'])}."


def _sensitive_cells(attribute: Entry, manifest: Entry) -> Iterator[str]:
    """Yield how the cells of a sensitive attribute are to be read."""
    name, randomised = str(attribute["name"]), manifest.get("randomised")
    if isinstance(randomised, dict) and randomised.get("attribute") == name:
        yield (
            f"In the column {code(str(randomised.get('column')))}, where it is randomised: a value there need not be "
            "the person's. Never count it as it is."
        )
    elif not _of_people(manifest):
        return
    elif any(stem.startswith("sensitive") for stem in _stems_about(name, manifest)):
        yield "Counted for each group. Which row has which value is not published."
    else:
        yield EXACT


def _stems_about(name: str, manifest: Entry) -> list[str]:
    """Return the stems of the tables of the part that has a sensitive attribute, or of all."""
    stems, parts = [*_stems(manifest).values()], manifest.get("parts")
    for number, part in enumerate(parts if isinstance(parts, list) else (), 1):
        if name in part.get("sensitive", ()):
            return [stem for stem in stems if stem.endswith(f"_{number}")]
    return stems


# ------------------------------------------------------------------------------------------------------------- counting


def _counting(manifest: Entry) -> Iterator[list[str]]:
    """Yield the paragraphs on how to count."""
    if not _of_people(manifest):
        yield ["Rows are synthetic and belong to nobody. What is counted in them has the noise of the promise:"]
    elif all(kind.exact_quasi for _, kind in _parts(manifest)):
        yield [
            "Conditions on quasi-identifiers alone can be counted in the lines. Counts by the sensitive attribute are "
            "estimates, which these make:"
        ]
    else:
        yield ["A cell may stand for many values, so lines that fit cannot be counted. These make estimates:"]
    query = _query(manifest)
    yield [f'    discreet query FOLDER "{query}"']
    yield ["    import discreet as dc", f'    dc.load("FOLDER").estimate("{query}")']


def _query(manifest: Entry) -> str:
    """Return a count with a condition on the first quasi-identifier that can be named, and the first such sensitive
    attribute."""
    wanted = []
    for role in ("quasi", "sensitive"):
        found = (_condition(attribute) for attribute in manifest["attributes"] if attribute["role"] == role)
        wanted.append(next((condition for condition in found if condition), ""))
    conditions = " AND ".join(filter(None, wanted))
    return f"SELECT COUNT(*) FROM t WHERE {conditions}" if conditions else "SELECT COUNT(*) FROM t"


def _condition(attribute: Entry) -> str:
    """Return a condition on an attribute; nothing if its name or its values need more than plain signs."""
    name, ends = str(attribute["name"]), _domain(attribute)
    if not re.fullmatch(r"[A-Za-z_][\w .-]*", name, re.ASCII):
        return ""
    if RESERVED.fullmatch(name) or not re.fullmatch(r"\w+", name, re.ASCII):
        name = f"[{name}]"
    if ends:
        low, high = ends
        if isinstance(low, str):
            return f"{name} >= '{low}'"
        whole = isinstance(low, int) and isinstance(high, int)
        return f"{name} >= {_end((low + high) // 2 if whole else low)}"
    named, _ = _leaves(attribute)
    plain = next((value for value in named if re.fullmatch(r"\w[\w .-]*", value, re.ASCII)), None)
    return "" if plain is None else f"{name} = '{plain}'"


# ------------------------------------------------------------------------------------------------------------- promises


def _promises(manifest: Entry) -> Iterator[str]:
    for text in _texts(manifest.get("promise")):
        name = text.partition("(")[0].strip()
        yield f"- {span(text)}. {prose(PRINCIPLES.summary(name)) if name in PRINCIPLES else ''}".rstrip()


def _not_promised(manifest: Entry) -> str:
    several = ", what several releases say together," if _of_people(manifest) else ""
    return (
        f"Not promised: anything about what an attacker knows beyond the quasi-identifiers{several} or what holds for "
        'people of a kind. The page "What is not promised" of the documentation of discreet has all of it.'
    )
