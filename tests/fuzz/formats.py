"""An oracle for each release format: checks the release from its files, the private trace and the original."""

from __future__ import annotations

import itertools
import json
import math
import re
import shutil
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from fuzz.cases import MISSING, Case, Column, Value
from fuzz.files import Line, admits, cell, expect, items, lines_of, lists_of, manifest_of, traces_of
from fuzz.narrowness import strongest_beliefs
from fuzz.promises import SLACK, Promise, broken, near
from naive import perturbation, retention

MOST_POINTS = 20_000
"""Combined presence is checked only if the values have at most this many combinations."""
PARAMETER = re.compile(r'(\w+)=(?:("(?:\\.|[^"\\])*")|([^,]*))')
"""A parameter of a promise: its name, and its value in quotes or without."""


@dataclass
class Published:
    """A saved release with the table and promises it was made from."""

    folder: Path
    case: Case
    promises: list[Promise]
    groups: list[int | None]
    """The published group of every input row (its line, if values are randomised), from the private trace."""
    trace: Path
    table: str = "table"
    """The name of the table of rows."""
    more: tuple[list[int | None], ...] = ()
    """The groups of every input row in further tables."""

    def rows_by_group(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for row, group in enumerate(self.groups):
            if group is not None:
                found[group].append(row)
        return dict(found)

    @property
    def withheld(self) -> list[int]:
        return [row for row, group in enumerate(self.groups) if group is None]


def check(folder: Path, case: Case, promises: list[Promise], trace: Path) -> str:
    """Check that a release is true and keeps these promises, and return its format; ``UntrueError`` otherwise."""
    manifest = manifest_of(folder)
    # drawn rows are nobody's, and nobody's are withheld
    first, *more = traces_of(trace, case.rows) if trace.exists() else [[0] * case.rows]
    published = Published(folder, case, promises, first, trace, more=tuple(more))
    out = len(published.withheld)
    expect(manifest["rows"] == {"published": case.rows - out, "withheld": out}, "rows are counted wrongly")
    listed = [(entry["name"], entry["role"], entry["kind"]) for entry in manifest["attributes"]]
    roles = [(case.quasi, "quasi"), (case.sensitive, "sensitive"), (case.kept, "other")]
    expect(listed == [(one.name, role, one.kind) for some, role in roles for one in some], "attributes differ")
    describes(folder)
    FORMATS[manifest["format"]](published)
    if "marginals" in manifest:
        _marginals(published, manifest["marginals"]["least"])
    _judge(published, [published.withheld])
    return str(manifest["format"])


SPAN = re.compile(r"\\.|(`+)(.+?)(?<!`)\1(?!`)")
"""A code span of Markdown, or a sign that stands for itself."""


def spans(text: str) -> list[str]:
    """The texts in code spans, as they are read; those in quotes are JSON."""
    found = []
    for inner in (inner for _, inner in SPAN.findall(text) if inner):
        inner = inner[1:-1] if inner[0] == inner[-1] == " " and inner.strip() else inner
        found.append(json.loads(inner) if inner.startswith('"') else inner)
    return found


def describes(folder: Path) -> None:
    """Check README.md: it is short and plain, names columns and files, and quotes only what the manifest has."""
    manifest, text = manifest_of(folder), (folder / "README.md").read_text(encoding="utf-8")
    expect(text.replace("\n", "").isprintable(), "README.md has signs that nobody sees")
    lines = text.splitlines()
    expect(len(lines) <= 48 + len(manifest["attributes"]) + 2 * len(manifest["tables"]), "README.md is long")
    expect("<" not in SPAN.sub("", text), "README.md may be read as HTML")
    at, end = lines.index("## Columns"), lines.index("## How to count")
    names = [spans(line)[0] for line in lines[at + 2 : end - 1]]
    expect(names == [entry["name"] for entry in manifest["attributes"]], f"README.md has the columns {names}")
    at = lines.index("## Files")
    named = [spans(line)[0] for line in lines[at + 2 : lines.index("## Columns") - 1]]
    expect(named == ["release.json", *sorted(manifest["tables"])], f"README.md has the files {named}")
    known = _texts_in(manifest) | {"release.json", "*", MISSING}
    begun = {text[:80] for text in known}
    for span in spans(text):
        stated = span in known | begun or _recipe(span) in _recipes(manifest)
        interval = span[:1] == "[" and all(item in known for item in items(span[1:-1]))
        expect(stated or interval, f"README.md says {span!r}, which the manifest does not")


def _texts_in(part: Any) -> set[str]:
    """All texts and numbers in a part of a manifest, as texts."""
    if isinstance(part, dict):
        return set(part) | {text for inner in part.values() for text in _texts_in(inner)}
    if isinstance(part, list):
        return {text for inner in part for text in _texts_in(inner)}
    return {part} if isinstance(part, str) else {f"{part:g}", str(part)}


def _recipes(manifest: dict[str, Any]) -> list[Any]:
    return [entry["recipe"] for entry in manifest["attributes"] if "recipe" in entry]


def _recipe(span: str) -> Any:
    try:
        return json.loads(span)
    except ValueError:
        return None


def states(folder: Path, promises: list[Promise], sensitive: list[Column]) -> bool:
    """Whether the manifest states all these promises, and of each that is not about every attribute which it is."""
    stated = [_spelt(text) for text in manifest_of(folder)["promise"]]
    wanted: list[Promise] = []
    for promise in promises:
        about = [column.name for column in sensitive if promise.concerns(column)]
        if len(about) == len(sensitive) or promise.name == "k-anonymity":
            wanted.append(promise)
        else:
            wanted += [replace(promise, attribute=name) for name in about]
    return all(_spelt(promise.text) in stated for promise in wanted)


def _spelt(text: str) -> tuple[str, frozenset[str]]:
    """Normalise a promise: order of parameters and spelling of numbers do not matter, and defaults are left out."""
    name, _, inside = text.removesuffix(")").partition("(")
    said = {key: json.loads(quoted) if quoted else _number(plain) for key, quoted, plain in PARAMETER.findall(inside)}
    if {"below", "above"} <= said.keys():
        said.pop("epsilon", None)  # unused when both sides are given
    defaults = {"variant=enhanced", "kind=frequency", "distance=equal", "neighbourhood=absolute", "presence=group"}
    defaults |= {"association=group"}
    return name, frozenset(f"{key}={value}" for key, value in said.items()) - defaults


def _number(text: str) -> str:
    try:
        return str(Fraction(text))
    except ValueError:
        return text


def _judge(published: Published, groups: Sequence[Sequence[int]]) -> None:
    """Check every promise about every sensitive attribute that it is about in each of these groups of rows."""
    for column in published.case.sensitive:
        prior = column.meant
        about = [promise for promise in published.promises if promise.concerns(column)]
        for promise, rows in itertools.product(about, groups):
            held = [prior[row] for row in rows]
            expect(not broken(promise, held, prior, column), f"{promise.text} is broken by a group with {held}")


def _shared(column: Column, rows: Sequence[int]) -> list[Value]:
    meant = column.meant
    return [meant[row] for row in rows]


# ---------------------------------------------------------------------------------------------------------- presence


def _presence(published: Published, blocks: Sequence[dict[int, set[Any]]], sizes: dict[int, int]) -> None:
    """Check alpha for everyone whose values occur in the original: in every group, or in all groups combined.

    A block lists, per group, the values (or combinations of values) of the original that the group may contain.
    """
    chances = {
        number: min(Fraction(1), Fraction(size, math.prod(len(block[number]) for block in blocks)))
        for number, size in sizes.items()
    }
    entries = [set().union(*block.values()) for block in blocks]
    few = math.prod(map(len, entries)) <= MOST_POINTS
    for promise in published.promises:
        if promise.name != "alpha-beta":
            continue
        alpha = promise.number("alpha") + SLACK
        for chance in chances.values():
            expect(chance <= alpha, f"{promise.text}: a group is believed with {chance}")
        for point in itertools.product(*entries) if few and promise.parameters.get("presence") == "combined" else ():
            absent = Fraction(1)
            for number, chance in chances.items():
                if all(one in block[number] for one, block in zip(point, blocks, strict=True)):
                    absent *= 1 - chance
            expect(1 - absent <= alpha, f"{promise.text}: {point} is believed with {1 - absent}")


# --------------------------------------------------------------------------------------------------------- marginals


def _marginals(published: Published, least: int) -> None:
    """Check the counts of quasi-identifiers: a row counts for the narrowest of the cells that admit its value."""
    case, lines = published.case, lines_of(published.folder, "marginals")
    expect(not published.withheld, "rows are withheld, and all are counted")
    for promise in published.promises:
        expect(promise.name != "k-anonymity" or least >= promise.number("k"), f"{promise.text}: counts may be smaller")
        hides = promise.name == "alpha-beta" and promise.number("alpha") < 1
        expect(not hides, f"{promise.text}: counts tell who is in the table")
    expect({line["attribute"] for line in lines} <= {column.name for column in case.quasi}, "other columns are counted")
    for column in case.quasi:
        said = {line["value"]: int(line["count"]) for line in lines if line["attribute"] == column.name}
        if not said:
            continue
        expect(min(said.values()) >= least, f"fewer than {least} rows of {column.name} are counted together")
        values = set(column.meant)
        wide = {text: sum(admits(column, text, value) for value in values) for text in said}
        found = Counter(
            min(
                (text for text in said if admits(column, text, value)),
                # of two runs that meet in a number the later one has it
                key=lambda text: (text[:1] == "[", wide[text], text[:1] == "[" and text.endswith(f", {value}]")),
            )
            for value in column.meant
        )
        expect(found == said, f"{column.name} is counted wrongly: {said}, which should be {dict(found)}")


# ------------------------------------------------------------------------------------------------------------ formats


def _by_group(lines: list[Line]) -> dict[int, list[Line]]:
    found: dict[int, list[Line]] = defaultdict(list)
    for line in lines:
        found[int(line["group"])].append(line)
    return dict(found)


def _same(columns: Sequence[Column], lines: Sequence[Line], rows: Sequence[int], what: str) -> None:
    """Check that the lines contain the same values of these columns as the rows, in any order."""
    said = Counter(tuple(cell(column, line) for column in columns) for line in lines)
    meant = [column.meant for column in columns]
    expect(said == Counter(tuple(values[row] for values in meant) for row in rows), f"{what} are not those of the rows")


def _generalized(published: Published) -> None:
    manifest, rows = manifest_of(published.folder), published.rows_by_group()
    expect(manifest["groups"] == len(rows), "groups are counted wrongly")
    _groups_of_rows(published)
    hidden = [one for one in published.promises if one.name == "alpha-beta" and one.number("alpha") < 1]
    for number, lines in _by_group(lines_of(published.folder, "table")).items() if hidden else ():
        for belief in strongest_beliefs(published.case.quasi, manifest, lines[0], rows[number]):
            for promise in hidden:
                kept = belief <= promise.number("alpha") + SLACK
                expect(kept, f"{promise.text}: a combination at the ends of a group is believed with {belief}")


def _groups_of_rows(published: Published) -> None:
    """Check a table of rows in groups, each with one description and the values of its rows."""
    case = published.case
    groups, rows = _by_group(lines_of(published.folder, published.table)), published.rows_by_group()
    expect(groups.keys() == rows.keys(), "groups are not those of the trace")
    for number, lines in groups.items():
        _same([*case.sensitive, *case.kept], lines, rows[number], "sensitive and kept values")
        for column in case.quasi:
            (text,) = {line[column.name] for line in lines}
            true = all(admits(column, text, value) for value in _shared(column, rows[number]))
            expect(true, f"{text!r} is not true of all rows of a group")
    _judge(published, list(rows.values()))
    blocks = []
    for column in case.quasi:
        values = set(column.meant)
        texts = {number: lines[0][column.name] for number, lines in groups.items()}
        blocks.append({number: {one for one in values if admits(column, text, one)} for number, text in texts.items()})
    _presence(published, blocks, {number: len(lines) for number, lines in groups.items()})


def _counted(published: Published) -> None:
    """Check the published counts of every sensitive attribute's values per group against the rows."""
    rows, columns = published.rows_by_group(), published.case.sensitive
    for at, column in enumerate(columns, 1):
        found: dict[int, Counter[Value]] = defaultdict(Counter)
        for line in lines_of(published.folder, "sensitive" if len(columns) == 1 else f"sensitive_{at}"):
            expect(tuple(line) == ("group", column.name, "count"), f"a table of counts has {tuple(line)}")
            group, value = found[int(line["group"])], cell(column, line)
            expect(value not in group, "a value is counted twice")
            expect(int(line["count"]) > 0, "a value is counted that no row holds")
            group[value] = int(line["count"])
        expect(found == {number: Counter(_shared(column, some)) for number, some in rows.items()}, "counts are wrong")
    expect(manifest_of(published.folder)["groups"] == len(rows), "groups are counted wrongly")


def _anatomy(published: Published) -> None:
    case = published.case
    _counted(published)
    groups, rows = _by_group(lines_of(published.folder, "table")), published.rows_by_group()
    expect(groups.keys() == rows.keys(), "groups are not those that are counted")
    for number, lines in groups.items():
        _same([*case.quasi, *case.kept], lines, rows[number], "quasi-identifiers and kept values")
    _judge(published, list(rows.values()))
    hidden = [one for one in published.promises if one.name == "alpha-beta" and one.number("alpha") < 1]
    expect(not hidden, "rows are published as they are, so nobody's presence is hidden")


def _ambiguous(published: Published) -> None:
    rows = published.rows_by_group()
    _counted(published)
    known = {column.name: column for column in published.case.quasi}
    blocks: list[dict[int, set[Any]]] = []
    for entry in manifest_of(published.folder)["auxiliaries"]:
        columns = [known.pop(name) for name in entry["attributes"]]
        said: dict[int, Counter[Any]] = defaultdict(Counter)
        for line in lines_of(published.folder, entry["table"]):
            said[int(line["group"])][tuple(cell(column, line) for column in columns)] += 1
        meant = [column.meant for column in columns]
        held = {number: {tuple(values[row] for values in meant) for row in some} for number, some in rows.items()}
        expect(said == {number: Counter(some) for number, some in held.items()}, "lists are not those of the rows")
        blocks.append(held)
    expect(not known, "a quasi-identifier is in no list")
    _judge(published, list(rows.values()))
    _presence(published, blocks, {number: len(some) for number, some in rows.items()})


def _rows_as_they_are(published: Published) -> tuple[Column, list[Value], list[int]]:
    """Check what randomised formats share: exact quasi-identifiers, the prior, and no published value outside it.

    Return the sensitive column, and the values and counts of the prior.
    """
    case = published.case
    (column,) = case.sensitive
    lines, meant = lines_of(published.folder, "table"), [one.meant for one in [*case.quasi, *case.kept]]
    rows = [row for row, at in enumerate(published.groups) if at is not None]
    expect(sorted(at for at in published.groups if at is not None) == list(range(len(lines))), "other lines")
    for row in rows:
        line = lines[int(str(published.groups[row]))]
        said = [cell(one, line) for one in [*case.quasi, *case.kept]]
        expect(said == [values[row] for values in meant], "a line is not that of its row")
    prior = lines_of(published.folder, "prior")
    values = [_value(column, line["value"]) for line in prior]
    counts = [int(line["count"]) for line in prior]
    expect(len(set(values)) == len(values), "the prior has a value twice")
    expect(dict(zip(values, counts, strict=True)) == Counter(column.meant), "the prior is not that of the original")
    expect({_shown(column, line) for line in lines} <= set(values), "a value is published that the prior does not list")
    return column, values, counts


def _shown(column: Column, line: Mapping[str, str]) -> Value:
    """The randomised value on a line of the table."""
    return _value(column, line[f"{column.name}_randomised"])


def _value(column: Column, text: str) -> Value:
    return cell(column, {column.name: text})


def _perturbed(published: Published) -> None:
    _, values, counts = _rows_as_they_are(published)
    column = published.case.sensitive[0]
    lines = lines_of(published.folder, "matrix")
    texts = [[line[name] for name in line if name != "published"] for line in lines]
    expect([_value(column, line["published"]) for line in lines] == values, "the matrix has other values")
    cells = [[Fraction(text) for text in line] for line in texts]
    expect(all(chance >= 0 for line in cells for chance in line), "a chance is negative")
    expect(all(sum(one) == 1 for one in zip(*cells, strict=True)), "chances of an original value do not add up to 1")
    _drawn(published, values, cells)
    expect({promise.name for promise in published.promises} == {"beta-likeness"}, "more is promised than is kept")
    for promise, line in itertools.product(published.promises, perturbation.beliefs(texts, counts)):
        believed = dict(zip(values, line, strict=True))
        expect(not broken(promise, believed, column.meant, column), f"{promise.text} is broken by {believed}")


def _drawn(published: Published, values: Sequence[Value], cells: Sequence[Sequence[Fraction]]) -> None:
    """Check that every published value has a positive probability given its original."""
    column = published.case.sensitive[0]
    lines, meant = lines_of(published.folder, "table"), column.meant
    for row, at in enumerate(published.groups):
        if at is not None:
            chance = cells[values.index(_shown(column, lines[at]))][values.index(meant[row])]
            expect(chance > 0, "a value is published that its original is never replaced by")


def _retained(published: Published) -> None:
    _, values, counts = _rows_as_they_are(published)
    told = manifest_of(published.folder)["retention"]
    kept = Fraction(repr(told["probability"]))
    weights = counts if told["noise"] == "prior" else [1] * len(counts)
    expect(0 <= kept <= 1, "that is no probability")
    _drawn(published, values, retention.matrix(kept, weights))
    beliefs = retention.posteriors(kept, counts, weights)
    for promise in published.promises:
        expect(promise.name == "proximity", "more is promised than is kept")
        around = [[at for at, y in enumerate(values) if near(promise, x, y)] for x in values]
        worst = max(sum((line[at] for at in inside), Fraction(0)) for line in beliefs for inside in around)
        expect(worst <= 1 / promise.number("m") + SLACK, f"{promise.text}: a neighbourhood is believed with {worst}")


def _nested(published: Published) -> None:
    """Rows under nodes, whose descriptions admit all persons in them."""
    case, lines = published.case, _by_group(lines_of(published.folder, "table"))
    exact = [*case.sensitive, *case.kept]
    paths = _in_tree(published, exact, {node: [_cells(exact, line) for line in some] for node, some in lines.items()})
    leaves = published.rows_by_group()
    for node in paths:
        for column in case.quasi:
            (text,) = {line[column.name] for line in lines[node]}
            everyone = [row for leaf, rows in leaves.items() if node in paths[leaf] for row in rows]
            expect(all(admits(column, text, value) for value in _shared(column, everyone)), f"{text!r} is not true")


def _nested_exact(published: Published) -> None:
    """Persons with their quasi-identifiers in leaves, and the values counted under nodes."""
    case, lines = published.case, _by_group(lines_of(published.folder, "table"))
    (column,) = case.sensitive
    leaves = published.rows_by_group()
    expect(lines.keys() == leaves.keys(), "leaves are not those of the persons")
    for leaf, some in lines.items():
        _same([*case.quasi, *case.kept], some, leaves[leaf], "quasi-identifiers and kept values")
    values: dict[int, list[Any]] = defaultdict(list)
    for line in lines_of(published.folder, "sensitive"):
        values[int(line["group"])] += [(cell(column, line),)] * int(line["count"])
    _in_tree(published, [column], values)


def _cells(columns: Sequence[Column], line: Mapping[str, str]) -> tuple[Any, ...]:
    return tuple(cell(column, line) for column in columns)


def _in_tree(published: Published, exact: Sequence[Column], lines: Mapping[int, list[Any]]) -> dict[int, list[int]]:
    """Persons in leaves by the trace; the rows of a node are theirs who are in it and have none below.

    ``lines`` are the values of these columns, the sensitive one first, under each node. Return the ways up.
    """
    case, leaves = published.case, published.rows_by_group()
    nodes = {int(line["group"]): line for line in lines_of(published.folder, "nodes")}
    expect(list(nodes) == sorted(nodes) and nodes.keys() == lines.keys(), "the nodes are not those with rows")
    expect(manifest_of(published.folder)["groups"] == len(nodes), "nodes are counted wrongly")
    paths = {node: _climb(nodes, node) for node in nodes}
    for node in nodes:
        expect(int(nodes[node]["persons"]) == len(leaves.get(node, [])), "persons are counted wrongly")
    (column,) = case.sensitive
    meant, sensitive_columns = list(zip(*(one.meant for one in exact), strict=True)), column.meant
    waiting: dict[int, Counter[Any]] = {node: Counter(meant[row] for row in leaves.get(node, [])) for node in nodes}
    arriving = {}
    for node in sorted(nodes, key=lambda one: -len(paths[one])):
        arriving[node] = waiting[node].total()
        own = Counter(lines[node])
        expect(own <= waiting[node], "a node has rows of persons who are not in it, or have one below")
        left = waiting[node] - own
        if len(paths[node]) > 1:
            waiting[paths[node][1]] += left
        else:
            expect(not left, "persons of a root have no row")
    for leaf, rows in leaves.items():
        reach, believed = Fraction(1), Expected.fromkeys(sensitive_columns, Fraction(0))
        for node in paths[leaf]:
            for value, *_ in lines[node]:
                believed[value] += len(rows) * reach / arriving[node]
            reach *= 1 - Fraction(len(lines[node]), arriving[node])
        expect(len(believed) == len(rows), "somebody has no row")
        for promise in published.promises:
            kept = not broken(promise, believed, sensitive_columns, column)
            expect(kept, f"{promise.text} is broken by what is believed of a leaf")
    return paths


def _sealed(published: Published) -> None:
    """Groups, and for each what was told: even whoever makes the most of it believes no more than is promised."""
    _generalized(published)
    _leaked(published)


def _sealed_exact(published: Published) -> None:
    """The same with rows as they are."""
    _anatomy(published)
    _leaked(published)


def _leaked(published: Published) -> None:
    """Check that what tests may have leaked about each group leaves the promise kept."""
    seal, rows = lines_of(published.folder, "seal"), published.rows_by_group()
    expect([int(line["group"]) for line in seal] == sorted(rows), "the seal is not about the groups")
    for line, column in itertools.product(seal, published.case.sensitive):
        held = Counter(_shared(column, rows[int(line["group"])]))
        expect(float(line["leakage"]) >= 0, "a negative amount was leaked")
        # less what rounding may be off by, but not less than nothing, which would make more of the other values
        size, more = (
            held.total(),
            max(Fraction(1), Fraction(math.exp(float(line["leakage"]))) * (1 - Fraction(1, 10**7))),
        )
        about = [promise for promise in published.promises if promise.concerns(column)]
        for value, count in held.items():
            share = more * count / (more * count + size - count)
            rest = (1 - share) * size / (size - count) if count < size else Fraction(0)
            believed = Expected({one: share * size if one == value else rest * held[one] for one in held})
            for promise in about:
                kept = not broken(promise, believed, column.meant, column)
                expect(kept, f"{promise.text} is broken by what tests may have leaked about a group")


def _matched(published: Published) -> None:
    """Persons and rows that may be theirs by the trace: as many of these as each has persons, one of every column."""
    case, manifest = published.case, manifest_of(published.folder)
    (column,) = case.sensitive
    lines = _by_group(lines_of(published.folder, "table"))
    expect(all(len(some) == 1 for some in lines.values()), "two rows have one number")
    expect(manifest["groups"] == len(lines), "rows are counted wrongly")
    listed = lists_of(published.trace, case.rows)
    crowd: dict[int, list[int]] = defaultdict(list)
    for person, some in enumerate(listed):
        expect(len(set(some)) == len(some), "two assignments give a person the same row")
        expect(some[:1] == [one for one in [published.groups[person]] if one is not None], "the own row is not first")
        for number in some:
            crowd[number].append(person)
    expect(sorted(one for one in published.groups if one is not None) == sorted(lines), "other rows than persons")
    for at in range(max(map(len, listed))):
        given = [some[at] for some in listed if at < len(some)]
        expect(len(set(given)) == len(given), "an assignment gives a row to two persons")
    for number, persons in crowd.items():
        expect(all(len(listed[person]) == len(persons) for person in persons), "the graph is not regular")
        for one in case.quasi:
            true = all(admits(one, lines[number][0][one.name], value) for value in _shared(one, persons))
            expect(true, "a description is not true of all whose candidate the row is")
    exact, prior = [*case.sensitive, *case.kept], column.meant
    for person, some in enumerate(listed):
        if some:
            _same(exact, lines[some[0]], [person], "values")
            held = [cell(column, lines[number][0]) for number in some]
            for promise in published.promises:
                kept = not broken(promise, held, prior, column)
                expect(kept, f"{promise.text} is broken by candidates with {held}")


def _projected(published: Published) -> None:
    """Check every table by itself, and that each sensitive attribute is in one of them, kept columns in the first."""
    entries = manifest_of(published.folder)["parts"]
    traces = [published.groups, *published.more]
    expect(len(entries) == len(traces), "the trace has other tables")
    named = {column.name: column for column in published.case.sensitive}
    split = [name for entry in entries for name in entry["sensitive"]]
    expect(sorted(split) == sorted(named), "an attribute is in no table, or in several")
    for number, (entry, groups) in enumerate(zip(entries, traces, strict=True), 1):
        some = [named[name] for name in entry["sensitive"]]
        kept = published.case.kept if number == 1 else []
        case = replace(published.case, sensitive=some, kept=kept)
        if "format" in entry:
            _part(replace(published, case=case, groups=groups, more=()), entry, number)
            continue
        expect(entry["groups"] == len(set(groups) - {None}), "groups are counted wrongly")
        (columns,) = {tuple(line) for line in lines_of(published.folder, f"table_{number}")}
        expect(columns == ("group", *(one.name for one in (*case.quasi, *some, *kept))), f"a table has {columns}")
        _groups_of_rows(replace(published, case=case, groups=groups, table=f"table_{number}"))


def _part(published: Published, entry: dict[str, Any], number: int) -> None:
    """Check a table of another format as the release of its own that it would be under other names."""
    manifest, names = manifest_of(published.folder), [column.name for column in published.case.sensitive]
    home = Path(tempfile.mkdtemp(dir=published.folder.parent))
    tables = {}
    for name, told in manifest["tables"].items():
        if f"_{number}." in name:
            own = name.replace(f"_{number}.", ".")
            shutil.copy(published.folder / name, home / own)
            tables[own] = told
    some = [one for one in manifest["attributes"] if one["role"] == "quasi" or one["name"] in names]
    alone = {**manifest, **entry, "attributes": some, "tables": tables}
    (home / "release.json").write_text(json.dumps(alone), encoding="utf-8")
    about = [one for one in published.promises if any(one.concerns(column) for column in published.case.sensitive)]
    FORMATS[entry["format"]](replace(published, folder=home, promises=about))


def _synthetic(published: Published) -> None:
    """As many rows as the original has, of values that the manifest lists; which are declared, or else occur."""
    case, manifest = published.case, manifest_of(published.folder)
    expect(not published.trace.exists(), "there is a trace, though no row is anybody's")
    expect(not case.kept, "a column is kept as it is")
    lines = lines_of(published.folder, "table")
    expect(len(lines) == case.rows, "there are more or fewer rows than people")
    for column, entry in zip([*case.quasi, *case.sensitive], manifest["attributes"], strict=True):
        said, meant = [cell(column, line) for line in lines], set(column.meant)
        if column.kind == "numeric":
            low, high = (Fraction(str(end)) for end in entry["domain"])
            known = [value for value in meant if value is not None]
            declared = column.domain or (min(known), max(known))
            expect((low, high) == declared, "the ends of numbers are neither declared nor those that occur")
            expect(all(low <= one <= high for one in said if one is not None), "a number lies outside")
            expect(None in meant or None not in said, "a number is missing though none was")
        else:
            tree = entry.get("hierarchy", [])
            known = {*entry.get("values", []), *(one if isinstance(one, str) else one[0] for one in tree)}
            declared = {*column.order, *(line[0] for line in column.tree or ())}
            expect(known <= declared | meant, "values are listed that nobody declared or has")
            expect(set(said) <= known | (meant & {MISSING}), "a value is not listed")
    told = manifest["privacy"]
    expect(told["domains"] == manifest["scheme"]["options"]["domains"], "it says something else of its lists")
    for promise in published.promises:
        expect(promise.name == "differential-privacy", f"{promise.text} is about people's rows")
        expect(Fraction(str(told["epsilon"])) <= promise.number("epsilon"), "more was spent than is promised")


class Expected(dict[Any, Fraction]):
    """How many persons are expected to have each value, as a group of so many persons."""

    def __len__(self) -> int:
        return int(sum(self.values()))


def _climb(nodes: dict[int, Line], leaf: int) -> list[int]:
    """A leaf and its ancestors."""
    path = [leaf]
    while nodes[path[-1]]["parent"]:
        path.append(int(nodes[path[-1]]["parent"]))
        expect(path[-1] in nodes and len(path) <= len(nodes), "parents are no nodes, or lead in a circle")
    return path


FORMATS: dict[str, Callable[[Published], None]] = {
    "generalized": _generalized,
    "anatomy": _anatomy,
    "ambiguous": _ambiguous,
    "perturbed": _perturbed,
    "retained": _retained,
    "nested": _nested,
    "matched": _matched,
    "projected": _projected,
    "sealed": _sealed,
    "mirrored": _generalized,
    "nested-exact": _nested_exact,
    "sealed-exact": _sealed_exact,
    "mirrored-exact": _anatomy,
    "synthetic": _synthetic,
}
"""The oracle of each format; the run fails for a format that is not listed."""
