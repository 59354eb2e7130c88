"""Nothing that a release publishes goes unseen: whatever its files say besides what they have to is found.

Every test is about every format, and every edit of a file is covered up by digests that fit it.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dc
from discreet.families.ambiguity.release import AmbiguousRelease
from discreet.releases.anatomy.release import AnatomyRelease
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.release import Release
from discreet.table.table import Table
from support.formats import MAKERS, published_as
from support.tampering import Folder, altered, describe

SEALED = ("sealed", "mirrored", "sealed-exact", "mirrored-exact")
"""Formats with a seal, which nobody can judge whose scheme is unknown."""
each_format = pytest.mark.parametrize("format", MAKERS)
each_format_of_people = pytest.mark.parametrize("format", [name for name in MAKERS if name != "synthetic"])
Manifest = dict[str, Any]


@cache
def people() -> pa.Table:
    chance, n = np.random.default_rng(5), 120
    return pa.table(
        {
            "age": chance.integers(20, 29, n),
            "sex": [("f", "m", None)[at] for at in chance.integers(0, 3, n)],
            "job": chance.choice(list("abcd"), n),
            "disease": chance.choice(list("stuvwxyz"), n),
            "pay": chance.integers(1, 60, n) * 100,
        }
    )


def original(format: str) -> Table:
    sensitive_attribute = "pay" if format == "retained" else "disease"
    return dc.read(people(), quasi=["age", "sex", "job"], sensitive=sensitive_attribute)


@cache
def published(format: str) -> Release:
    return published_as(format, original(format))


def saved(format: str, folder: Path, form: Any = "csv") -> Manifest:
    published(format).save(folder, form, force=True)
    manifest: Manifest = json.loads((folder / "release.json").read_text())
    return manifest


def cover_up(folder: Path, manifest: Manifest) -> None:
    for name in manifest["tables"]:
        manifest["tables"][name] = {"sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest()}
    (folder / "release.json").write_text(json.dumps(manifest))
    describe(folder)


def failing(folder: Path, format: str) -> dict[str, str]:
    """The sentences of the checks that fail; an input that is refused fails as well."""
    try:
        found = dc.audit(folder, original(format))
    except dc.DiscreetError as error:
        return {"refused": str(error)}
    return {check.name: check.sentence for check in found.checks if not check.holds}


def sentence(folder: Path, format: str, name: str) -> str:
    return next(check.sentence for check in dc.audit(folder, original(format)).checks if check.name == name)


# ------------------------------------------------------------------------------------------------------- the manifest


def options(**more: Any) -> Callable[[Manifest], None]:
    return lambda manifest: manifest["scheme"]["options"].update(more)


def of_attribute(at: int, **more: Any) -> Callable[[Manifest], None]:
    return lambda manifest: manifest["attributes"][at].update(more)


def entry(**more: Any) -> Callable[[Manifest], None]:
    return lambda manifest: manifest.update(more)


def reordered(manifest: Manifest) -> None:
    manifest["attributes"] = manifest.pop("attributes")


def told_option(manifest: Manifest) -> None:
    """Something else in an option that the scheme has."""
    known = manifest["scheme"]["options"]
    known.update({key: ["Ann", 54] for key in known or ("Ann",)})


HIDDEN: dict[str, Callable[[Manifest], None]] = {
    "links": options(links={"0": ["54", "f"]}),
    "an option": options(note="Ann Smith"),
    "a container": told_option,
    "no scheme": lambda manifest: manifest.pop("scheme") and None,
    "nor a plain name": lambda manifest: manifest["scheme"].update(name="Ann is in 3"),
    "a long name": lambda manifest: manifest["scheme"].update(name="a" * 50),
    "another scheme": lambda manifest: manifest.update(
        scheme={"name": "baseline" if manifest["format"] != "anatomy" else "cuts", "options": {}}
    ),
    "a version": entry(discreet="Ann is in 3"),
    "a number as version": entry(discreet=54.113),
    "a true version of the format": entry(format_version=True),
    "a seed": entry(experimental_seed="Ann Smith"),
    "a number as seed": entry(experimental_seed=54113),
    "an assumption": lambda manifest: manifest["assumptions"].append("Ann is in group 3"),
    "no assumptions": entry(assumptions=[]),
    "one fewer": lambda manifest: manifest["assumptions"].pop() and None,
    "an assumption twice": lambda manifest: manifest["assumptions"].append(manifest["assumptions"][0]),
    "assumptions in another order": lambda manifest: manifest["assumptions"].reverse(),
    "values of a number": of_attribute(0, values=["Ann Smith"]),
    "a domain of names": of_attribute(1, domain=[54, 113]),
    "a third bound": lambda manifest: manifest["attributes"][0]["domain"].append(54),
    "names in another order": lambda manifest: next(
        each["hierarchy"] for each in manifest["attributes"] if len(each.get("hierarchy", ())) > 1
    ).reverse(),
    "entries in another order": reordered,
    "another promise in its text": lambda manifest: manifest.update(
        promise=[text.replace("(", "( ") for text in manifest["promise"]]
    ),
    "an entry": entry(note="Ann"),
    "an entry of rows": lambda manifest: manifest["rows"].update(note="Ann"),
    "an entry of a table": lambda manifest: next(iter(manifest["tables"].values())).update(note="Ann"),
}


@pytest.mark.slow
@each_format
def test_a_manifest_says_nothing_but_what_it_has_to(format: str, tmp_path: Path) -> None:
    saved(format, tmp_path / "r")
    assert failing(tmp_path / "r", format) == {}
    for what, hide in HIDDEN.items():
        home = altered(tmp_path / "r", tmp_path / what, partial(hidden, hide))
        unknown = what in ("no scheme", "nor a plain name", "a long name")
        expected = {"manifest", "seal"} if format in SEALED and unknown else {"manifest"}
        assert set(failing(home, format)) == expected, what


def hidden(hide: Callable[[Manifest], None], folder: Folder) -> None:
    hide(folder.manifest)


@pytest.mark.slow
@each_format
def test_an_entry_given_twice_is_refused(format: str, tmp_path: Path) -> None:
    text = json.dumps(saved(format, tmp_path / "r"))
    for hidden in ('{"promise": ["Ann is in 3"], ', '{"rows": {}, '):
        (tmp_path / "r" / "release.json").write_text(hidden + text[1:])
        describe(tmp_path / "r")
        assert "more than once" in failing(tmp_path / "r", format)["refused"]
    inner = text.replace('"rows": {', '"rows": {"Ann": 1, "Ann": 2, ')
    (tmp_path / "r" / "release.json").write_text(inner)
    describe(tmp_path / "r")
    assert "'Ann' more than once" in failing(tmp_path / "r", format)["refused"]


@pytest.mark.slow
@each_format
def test_a_manifest_is_laid_out_plainly(format: str, tmp_path: Path) -> None:
    manifest, path = saved(format, tmp_path / "r"), tmp_path / "r" / "release.json"
    written = path.read_text()
    for text in (json.dumps(manifest), json.dumps(manifest, indent=2), json.dumps(manifest, ensure_ascii=False) + "\n"):
        path.write_text(text)
        assert failing(tmp_path / "r", format) == {}
    for text in (written.replace(": ", ":  ", 1), written + " \n", written.replace("age", "\\u0061ge", 1)):
        path.write_text(text)
        assert set(failing(tmp_path / "r", format)) == {"files"}


@pytest.mark.slow
@each_format
def test_a_scheme_that_is_not_installed_is_said_in_the_verdict(format: str, tmp_path: Path) -> None:
    """What its options may be nobody knows, so that any of them might tell something."""
    manifest = saved(format, tmp_path / "r")
    manifest["scheme"] = {"name": "by-hand", "options": {}}
    cover_up(tmp_path / "r", manifest)
    broken_seal = {"seal"} if format in SEALED else set()
    audit = dc.audit(tmp_path / "r", original(format), trace=published(format).trace)
    assert audit.holds == (format not in SEALED)
    assert "scheme 'by-hand' is not installed here" in audit.verdict or (
        "a scheme that is not installed here" in failing(tmp_path / "r", format)["seal"]
    )
    many: Manifest = {str(at): at for at in range(50)}
    noted: list[Manifest] = [{"note": "anything at all"}, {"k": 3}, {"way": "x" * 50}, {"k": [1]}, {"k": {}}, many]
    for told in noted:
        manifest["scheme"]["options"] = told
        cover_up(tmp_path / "r", manifest)
        found = failing(tmp_path / "r", format)
        assert set(found) - broken_seal == {"manifest"} and "install the plug-in that has it" in found["manifest"]


def test_releases_made_by_hand_pass(tmp_path: Path) -> None:
    table = original("anatomy")
    groups = np.zeros(table.rows, np.int32)
    for kind in (GeneralizedRelease, AnatomyRelease, AmbiguousRelease):
        release = kind.from_groups(table, groups, promise=dc.KAnonymity(1), scheme="by_hand")
        release.save(tmp_path / kind.format)
        assert failing(tmp_path / kind.format, "anatomy") == {}


def test_words_of_options_are_those_of_the_table(tmp_path: Path) -> None:
    """A text that an option may be is not any text."""
    columns = {"age": range(40), "ill": list("abcd") * 10, "job": list("wxyyzwzx") * 5}
    table = dc.read(pa.table(columns), quasi=["age"], sensitive=["ill", "job"])
    scheme = dc.Codip(exposure=0.0, scheme="cuts( loss = gcp ) ", harmless="ill=a;; job=w")
    folder = scheme.publish(table, dc.LDiversity(2)).save(tmp_path / "r")
    manifest = json.loads((folder / "release.json").read_text())
    options = manifest["scheme"]["options"]
    assert (options["scheme"], options["harmless"]) == ("cuts(loss=gcp)", "ill=a; job=w")
    assert dc.audit(folder, table).holds
    for told in (
        {"harmless": "ill=Ann is in 3"},
        {"harmless": "Ann=a"},
        {"harmless": "ill=a;   job=w"},
        {"scheme": "Ann is in 3"},
        {"scheme": "cuts(Ann=3)"},
        {"scheme": "cuts(loss=gcp,,,)"},
    ):
        manifest["scheme"]["options"] = options | told
        cover_up(folder, manifest)
        assert {check.name for check in dc.audit(folder, table).checks if not check.holds} == {"manifest"}, told


@pytest.mark.slow
@each_format
def test_another_version_is_said(format: str, tmp_path: Path) -> None:
    manifest = saved(format, tmp_path / "r")
    cover_up(tmp_path / "r", {**manifest, "discreet": "0.0.9"})
    assert failing(tmp_path / "r", format) == {}
    assert "discreet 0.0.9 made the release" in sentence(tmp_path / "r", format, "manifest")


def test_pairs_are_those_that_are_published_together(tmp_path: Path) -> None:
    table, folder = original("ambiguous"), tmp_path / "r"
    release = dc.publish(table, dc.AlphaBeta(0.9, 0.5), dc.Ambiguity(pairs="job + sex"))
    release.save(folder)
    assert failing(folder, "ambiguous") == {}
    manifest = json.loads((folder / "release.json").read_text())
    for pairs, fails in (("sex+job", False), ("auto", False), ("none", True), ("Ann is in 3", True), ("age+sex", True)):
        manifest["scheme"]["options"]["pairs"] = pairs
        cover_up(folder, manifest)
        assert ("manifest" in failing(folder, "ambiguous")) is fails


# ----------------------------------------------------------------------------------------------- domains, hierarchies


@pytest.mark.slow
@each_format
def test_what_is_declared_beyond_the_original_is_said(format: str, tmp_path: Path) -> None:
    manifest = saved(format, tmp_path / "r")
    assert sentence(tmp_path / "r", format, "domains") == "Domains and hierarchies agree with the original."
    manifest["attributes"][0]["domain"] = [-1000, 1000]
    manifest["attributes"][1] |= {"hierarchy": ["(missing)", "John", "f", "m"], "declared": True}
    sensitive_attribute = manifest["attributes"][3]
    if format == "retained":
        sensitive_attribute |= {"domain": [0, 99999], "declared": True}
    else:
        sensitive_attribute["hierarchy"] = sorted(["Ann", "Bob", "Cid", "Dot", *sensitive_attribute["hierarchy"]])
    cover_up(tmp_path / "r", manifest)
    wide = "The domain of 'age', -1000 to 1000, is wider than the original's numbers and not said to be declared."
    assert format == "synthetic" or failing(tmp_path / "r", format) == {"domains": wide}
    manifest["attributes"][0]["declared"] = True
    cover_up(tmp_path / "r", manifest)
    # counts of columns depend on the domain: over a wide one their runs would be others
    assert failing(tmp_path / "r", format).keys() == {"marginals"} & manifest.keys()
    said = sentence(tmp_path / "r", format, "domains")
    assert "a wider domain for 'age' than the original was read with, -1000 to 1000" in said
    assert ("losses use it" in said) is (dc.audit(tmp_path / "r", original(format)).losses.get("ail", 0) > 0)
    assert "1 value of 'sex' that the original does not have: 'John'." in said
    assert ("'pay' than" if format == "retained" else "'Ann', 'Bob', 'Cid' and 1 more.") in said


@pytest.mark.slow
@each_format
def test_a_domain_holds_what_is_published(format: str, tmp_path: Path) -> None:
    manifest = saved(format, tmp_path / "r")
    for domain in ([22, 24], [28, 20], None):
        manifest["attributes"][0]["domain"] = domain
        cover_up(tmp_path / "r", manifest)
        assert "domains" in failing(tmp_path / "r", format)
    manifest = saved(format, tmp_path / "r")
    names = manifest["attributes"][2]["hierarchy"]
    names.remove(next((name for name in names if name == "a"), names[-1]))  # or the number of those without a name
    manifest["attributes"][2]["hierarchy"] = names or [1]
    cover_up(tmp_path / "r", manifest)
    assert {"domains", "refused", "listed"} & set(failing(tmp_path / "r", format))


@pytest.mark.slow
@each_format
def test_a_hierarchy_that_only_the_release_tells_is_said_to_be(format: str, tmp_path: Path) -> None:
    tree = {"job": {"one": ["a", "b"], "other": ["c", "d"]}}
    table = dc.read(
        people(), quasi=["age", "sex", "job"], sensitive=original(format).sensitive[0].name, hierarchies=tree
    )
    release = published_as(format, table)
    release.save(tmp_path / "tree")
    found = dc.audit(tmp_path / "tree", table, trace=release.trace, from_release=["job"])
    assert found.holds
    (said,) = (check.sentence for check in found.checks if check.name == "domains")
    assert "The hierarchy or order of 'job' is taken from the release." in said


# --------------------------------------------------------------------------------------------------------- the tables


def rows_of(path: Path) -> list[list[str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


RESPELLED: tuple[Callable[[str], str], ...] = (
    lambda cell: f"0{cell}",
    lambda cell: f"+{cell}",
    lambda cell: f" {cell}",
    lambda cell: f"{cell}.0",
    lambda cell: f"{cell}e0",
)


@pytest.mark.slow
@each_format
def test_numbers_are_written_in_one_way(format: str, tmp_path: Path) -> None:
    saved(format, tmp_path / "r")
    looked_at = set()
    for path in sorted((tmp_path / "r").glob("*.csv")):
        header, first, *rest = rows_of(path)
        for at, cell in enumerate(first):
            if not cell.replace(".", "", 1).isdigit():
                continue
            # of a matrix, whose cells are all alike, each in one of these ways
            ways = RESPELLED if at < 3 else RESPELLED[at % 5 :][:1]
            looked_at.add(header[at])
            for respelled in ways:
                manifest = saved(format, tmp_path / "r")
                line = [*first[:at], respelled(cell), *first[at + 1 :]]
                with path.open("w", newline="", encoding="utf-8") as file:
                    csv.writer(file, lineterminator="\n").writerows([header, line, *rest])
                cover_up(tmp_path / "r", manifest)
                assert failing(tmp_path / "r", format), (path.name, line)
    expected = {
        "generalized": {"group"},
        "nested": {"group", "persons"},
        "anatomy": {"group", "age", "count"},
        "ambiguous": {"group", "age", "count"},
        "perturbed": {"age", "count"},
        "retained": {"age", "count", "pay_randomised"},
        "matched": set(),
        "projected": {"group"},
        "sealed": {"group"},
        "mirrored": {"group"},
        "sealed-exact": {"group", "age", "count"},
        "mirrored-exact": {"group", "age", "count"},
        "nested-exact": {"group", "age", "count", "persons"},
        "synthetic": {"age"},
    }
    assert looked_at >= expected[format]


@pytest.mark.slow
@each_format
def test_lines_and_quotes_are_written_in_one_way(format: str, tmp_path: Path) -> None:
    saved(format, tmp_path / "r")
    for path in sorted((tmp_path / "r").glob("*.csv")):
        edits: tuple[Callable[[str], str], ...] = (
            lambda text: text.replace("\n", "\r\n"),
            lambda text: text.replace("\n", "\r\n", 1),
            lambda text: text + "\n",
            lambda text: text.removesuffix("\n"),
            lambda text: f'"{text.split(",", 1)[0]}",{text.split(",", 1)[1]}',
        )
        for edit in edits:
            manifest = saved(format, tmp_path / "r")
            path.write_bytes(edit(path.read_text(encoding="utf-8")).encode())
            cover_up(tmp_path / "r", manifest)
            assert set(failing(tmp_path / "r", format)) & {"spelling", "refused"}, path.name


def test_the_line_that_is_written_otherwise_is_named(tmp_path: Path) -> None:
    manifest, path = saved("anatomy", tmp_path / "r"), tmp_path / "r" / "table.csv"
    lines = path.read_text().splitlines()
    lines[4] = f"0{lines[4]}"
    path.write_text("\n".join(lines) + "\n")
    cover_up(tmp_path / "r", manifest)
    found = failing(tmp_path / "r", "anatomy")
    assert f"line 5 is {lines[4]!r} where {lines[4][1:]!r} is written" in found["spelling"]


@pytest.mark.slow
@pytest.mark.parametrize("values", ["interval", "set", "label"])
def test_descriptions_are_written_in_one_way(values: Any, tmp_path: Path) -> None:
    grades = pa.table({"grade": [("low", "mid, or so", "high")[row % 3] for row in range(120)]})
    table = dc.read(
        people().append_column("grade", grades["grade"]),
        quasi=["age", "sex", "job", "grade"],
        sensitive="disease",
        ordinal=["grade"],
        hierarchies={"job": {"one": ["a", "b"], "other": ["c", "d"]}, "age": {"intervals": {"widths": [5, 10]}}},
    )
    folder = tmp_path / "r"
    dc.publish(table, dc.KAnonymity(6), dc.Cuts(values=values)).save(folder)
    assert dc.audit(folder, table).holds
    manifest = json.loads((folder / "release.json").read_text())
    header, *lines = rows_of(folder / "table.csv")

    def fails(column: str, old: str, new: str) -> bool:
        at = header.index(column)
        changed = [[*line[:at], new if line[at] == old else line[at], *line[at + 1 :]] for line in lines]
        with (folder / "table.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([header, *changed])
        cover_up(folder, manifest)
        try:
            return "spelling" in {check.name for check in dc.audit(folder, table).checks if not check.holds}
        except dc.DiscreetError:
            return True

    seen = 0
    for column in ("age", "sex", "job", "grade"):
        for text in sorted({line[header.index(column)] for line in lines})[:4]:
            assert not fails(column, text, text)
            others = [f"[{text}, {text}]", f"{{{text}}}", f'"{text}"']
            if text[:1] == "[" and column == "age":
                low, high = text[1:-1].split(", ")
                others += [f"[{low}.0, {high}]", f"[0{low}, {high}]", f"[{low}, +{high}]"]
            if text[:1] == "{":
                names = text[1:-1].split(", ")
                others += [f"{{{', '.join(reversed(names))}}}", f"{{{', '.join([*names, names[0]])}}}"]
            for other in others:
                assert fails(column, text, other), (column, text, other)
                seen += 1
    assert seen > 20


def test_two_texts_of_one_meaning_are_found(tmp_path: Path) -> None:
    """The label of two values in one group and the two themselves in another would tell the groups apart."""
    tree = {"job": {"one": ["a", "b"], "other": ["c", "d"]}}
    table = dc.read(
        pa.table({"job": list("ab" * 6), "disease": list("stu" * 4)}),
        quasi=["job"],
        sensitive="disease",
        hierarchies=tree,
    )
    groups = np.repeat(np.arange(2, dtype=np.int32), 6)
    release = GeneralizedRelease.from_groups(table, groups, promise=dc.KAnonymity(3), scheme="by-hand")
    release.save(tmp_path / "r")
    assert dc.audit(tmp_path / "r", table).holds
    manifest, path = json.loads((tmp_path / "r" / "release.json").read_text()), tmp_path / "r" / "table.csv"
    path.write_text(path.read_text().replace("\n1,one,", '\n1,"{a, b}",'))
    cover_up(tmp_path / "r", manifest)
    found = {check.name: check.sentence for check in dc.audit(tmp_path / "r", table).checks if not check.holds}
    assert set(found) == {"spelling"} and "which mean the same" in found["spelling"]


@pytest.mark.slow
@each_format
def test_parquet_holds_nothing_beside_its_cells(format: str, tmp_path: Path) -> None:
    manifest = saved(format, tmp_path / "r", "parquet")
    assert failing(tmp_path / "r", format) == {}
    for path in sorted((tmp_path / "r").glob("*.parquet")):
        manifest = saved(format, tmp_path / "r", "parquet")
        table = pq.read_table(path)
        noted = table.replace_schema_metadata({"Ann": "is in 3"})
        texts = table.cast(pa.schema([pa.field(name, pa.string()) for name in table.column_names]))
        for other in (noted, texts):
            pq.write_table(other, path, compression="zstd")
            cover_up(tmp_path / "r", manifest)
            if other is noted or not other.schema.equals(table.schema):
                assert set(failing(tmp_path / "r", format)) == {"spelling"}, path.name


def test_parquet_of_another_writer_is_compared_by_its_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from discreet.table import write

    table, path = pa.table({"age": [1, 2]}), tmp_path / "t.parquet"
    monkeypatch.setitem(write.PARQUET, "compression", "snappy")
    write.write_table(table, path, "parquet")
    monkeypatch.undo()
    assert write.written_otherwise(table, path, "parquet") is not None
    own = pq.ParquetFile(path).metadata.created_by
    fake = "parquet-cpp-arrow version 1.2.3".ljust(len(own))[: len(own)].encode()
    path.write_bytes(path.read_bytes().replace(own.encode(), fake.rstrip() + b"4" * (len(own) - len(fake.rstrip()))))
    assert pq.ParquetFile(path).metadata.created_by != own
    assert write.written_otherwise(table, path, "parquet") is None
    assert write.written_otherwise(pa.table({"age": [1, 3]}), path, "parquet") is not None


# ----------------------------------------------------------------------------------------------------- missing values


@each_format_of_people
def test_a_missing_value_is_found_however_it_is_given(format: str) -> None:
    release = published(format)
    row = people()["sex"].to_pylist().index(None)
    age, job = people()["age"][row].as_py(), people()["job"][row].as_py()
    asked: dict[str, Any] = {"age": [age], "job": [job], "sex": ["(missing)"]}
    presence, beliefs = release.presence(asked), release.beliefs(asked)
    assert presence[0] > 0 and not np.isnan(beliefs).any()
    for given in (None, float("nan"), "", "  ", pandas.NA):
        for sex in ([given], np.array([given], object)):
            points = {**asked, "sex": sex}
            assert release.presence(points).tolist() == presence.tolist()
            assert release.beliefs(points).tolist() == beliefs.tolist()
    # among others, in a list and in a table
    points = {"age": [age, age], "job": [job, job], "sex": ["f", float("nan")]}
    assert release.presence(points)[1] == presence[0]
    everyone = release.presence(people().select(["age", "sex", "job"]).to_pandas())
    assert release.withheld or (everyone > 0).all()


@each_format_of_people
def test_a_missing_number_is_found_however_it_is_given(format: str) -> None:
    with_gaps = people().set_column(0, "age", pa.array([None if row % 5 else 20 + row % 7 for row in range(120)]))
    sensitive_attribute = "pay" if format == "retained" else "disease"
    table = dc.read(with_gaps, quasi=["age", "sex", "job"], sensitive=sensitive_attribute, missing="value")
    release = published_as(format, table)
    sex, job = next(
        (s, j)
        for row, (s, j) in enumerate(zip(*(with_gaps[c].to_pylist() for c in ("sex", "job")), strict=True))
        if row % 5
    )
    gone: tuple[Any, ...] = (None, float("nan"), "", " ")
    found = [release.presence({"age": [age], "sex": [sex], "job": [job]})[0] for age in gone]
    assert found[0] > 0 and len(set(found)) == 1
    with pytest.raises(dc.DiscreetError, match="no number in 'age'"):
        release.presence({"age": ["old"], "sex": [sex], "job": [job]})


# ---------------------------------------------------------------------------------------------------------- population


@pytest.mark.slow
@each_format_of_people
def test_a_population_contains_the_original(format: str, tmp_path: Path) -> None:
    published(format).save(tmp_path / "r")
    quasi = ["age", "sex", "job"]
    own = people().select(quasi)
    whole = pa.concat_tables([own, own, own])
    found = dc.audit(tmp_path / "r", original(format), population=dc.read(whole, quasi=quasi))
    assert found.presence is not None and found.presence.population is not None
    assert found.presence.population.people == 360
    assert dc.audit(tmp_path / "r", original(format), population=dc.read(own, quasi=quasi)).presence is not None
    # every kind of person is in it often enough to fill the groups, but for one
    lost = own.slice(0, 1).to_pylist()[0]
    lacking = pa.Table.from_pylist([one for one in whole.to_pylist() if one != lost], schema=own.schema)
    number = own.to_pylist().count(lost)
    with pytest.raises(dc.DiscreetError, match="does not contain the") as error:
        dc.audit(tmp_path / "r", original(format), population=dc.read(lacking, quasi=quasi))
    if format in ("generalized", "ambiguous"):
        sex = lost["sex"] or r"\(missing\)"
        error.match(
            rf"the original: {number} rows? of the original, such as age {lost['age']}, sex {sex}, job {lost['job']}, "
        )


def test_rows_that_miss_a_number_need_not_be_in_the_population(tmp_path: Path) -> None:
    ages = pa.array([None, *(20 + row % 4 for row in range(1, 40))])
    people = pa.table({"age": ages, "disease": list("stuv" * 10)})
    table = dc.read(people, quasi=["age"], sensitive="disease", missing="withhold")
    dc.publish(table, dc.KAnonymity(2)).save(tmp_path / "r")
    population = dc.read(people.select(["age"]).slice(1), quasi=["age"])
    assert dc.audit(tmp_path / "r", table, population=population).presence is not None


# ---------------------------------------------------------------------------------------------------------------- help


# ------------------------------------------------------------------------------------------ how the original was read


def marked(format: str) -> Table:
    """A table in which texts mark missing values."""
    columns = {name: people().column(name).to_pylist() for name in people().column_names}
    columns["job"] = ["NA" if job == "a" else job for job in columns["job"]]
    sensitive_attribute = "pay" if format == "retained" else "disease"
    return dc.read(pa.table(columns), quasi=["age", "sex", "job"], sensitive=sensitive_attribute, na=["NA"])


def reading(**more: Any) -> Callable[[Manifest], None]:
    return lambda manifest: manifest["reading"].update(more)


FORGED: dict[str, Callable[[Manifest], None]] = {
    "an unknown key": reading(note="Ann"),
    "a path": reading(file="people.csv"),
    "a long mark": reading(na=["x" * 101]),
    "many marks": reading(na=[f"{at:03}" for at in range(101)]),
    "a number as mark": reading(na=[54]),
    "a text as marks": reading(na="NA"),
    "no marks": reading(na=[]),
    "marks in another order": reading(na=["b", "a"]),
    "a mark twice": reading(na=["NA", "NA"]),
    "dates of no column": reading(dates={"Ann": "%Y"}),
    "dates of a number": reading(dates={"age": "%Y"}),
    "a list of no attribute": reading(lists={"job": ";"}),
    "a header alone": reading(header="none"),
    "columns alone": reading(columns=["age", "sex", "job", "disease", "pay"]),
    "columns without those of the release": reading(header="none", columns=["Ann"]),
    "a long column": reading(header="none", columns=["age", "sex", "job", "disease", "pay", "x" * 1001]),
    "an odd order": lambda manifest: manifest.update(
        reading={"columns": ["age", "sex", "job", "disease", "pay"], "na": ["NA"], "header": "none"}
    ),
    "two characters between cells": reading(delimiter="--"),
    "another spelling of a delimiter": reading(delimiter="tab"),
    "an encoding that does not exist": reading(encoding="Ann Smith"),
    "another spelling of an encoding": reading(encoding="UTF_8"),
    "an encoding of no file": reading(encoding="idna"),
    "a header of names that are listed": reading(header="yes", columns=["age", "sex", "job", "disease", "pay"]),
    "another header": reading(header="Ann"),
    "nothing": entry(reading={}),
    "null": entry(reading=None),
    "a text": entry(reading="Ann Smith"),
}


@pytest.mark.slow
@each_format
def test_how_the_original_was_read_says_nothing_else(format: str, tmp_path: Path) -> None:
    table, folder = marked(format), tmp_path / "r"
    release = published_as(format, table)
    release.save(folder)
    manifest = json.loads((folder / "release.json").read_text())
    assert manifest["reading"] == {"na": ["NA"]} and list(manifest)[5:7] == ["attributes", "reading"]
    assert all("reading" not in part for part in manifest.get("parts", []))
    found = dc.audit(folder, table, trace=release.trace)
    assert found.holds and "NA" not in next(each.sentence for each in found.checks if each.name == "manifest")
    for what, forge in FORGED.items():
        home = altered(folder, tmp_path / what, partial(hidden, forge))
        assert [each.name for each in dc.audit(home, table).checks if not each.holds] == ["manifest"], what


def test_what_an_original_does_not_show_of_its_reading_is_quoted(tmp_path: Path) -> None:
    table, folder = marked("generalized"), tmp_path / "r"
    published_as("generalized", table).save(folder)
    forged = altered(folder, tmp_path / "forged", partial(hidden, reading(na=["Ann Smith", "NA"])))
    found = dc.audit(forged, table)
    told = next(each.sentence for each in found.checks if each.name == "manifest")
    assert found.holds and "read otherwise than the manifest says, which states {'na': ['Ann Smith', 'NA']}" in told
