"""Hierarchies with odd shapes and labels: each is published, saved, audited and asked, or refused when it is read."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.command.main import main
from discreet.errors import DiscreetError

KINDS = ("categorical", "ordinal", "numeric")


def tree(lower: str, upper: str, root: str) -> list[tuple[str, ...]]:
    """Four leaves: 1 and 2 below one node, 3 and 4 below another."""
    return [("1", lower, root), ("2", lower, root), ("3", upper, root), ("4", upper, root)]


def below(*root: str) -> list[tuple[str, ...]]:
    """The same leaves directly below a root, or without one."""
    return [(leaf, *root) for leaf in "1234"]


PUBLISHED = {
    "named root": below("all"),
    "root named like the column": below("code"),
    "root that looks like an interval": below("[1, 4]"),
    "root that looks like a set": below("{1, 2, 3, 4}"),
    "root with blanks": below(" all "),
    "star as root": below("*"),
    "no root": below(),
    "one label all the way up": tree("a", "a", "a"),
    "star as inner node": tree("*", "b", "all"),
    "brackets": tree("[a, b]", "]x[", "[all]"),
    "braces": tree("{a, b}", "{1, 2}", "{all}"),
    "commas and semicolons": tree("a, b", "c;d", "all, and; more"),
    "intervals": tree("[1, 2]", "[3, 4]", "[1, 4]"),
    "intervals of other leaves": tree("[3, 4]", "[1, 2]", "[2, 3]"),
    "numbers": tree("17", "18", "99"),
    "leaves written as fractions": tree("3.0", "1.0", "4.0"),
    "words for numbers": tree("true", "inf", "nan"),
    "quotes": tree('"a"', '"1"', '"all"'),
    "a mark of byte order": tree("\ufeffa", "b", "\ufeffall"),
    "a line break": tree("a\nb", "c\r\nd", "all"),
}
REFUSED = {
    "missing as root": (below("(missing)"), "says in a release that a value is missing"),
    "missing as inner node": (tree("(missing)", "b", "all"), "says in a release that a value is missing"),
    "a leaf from elsewhere": (tree("3", "4", "all"), "two different sets of leaves"),
    "the root's own label inside": (tree("a", "b", "b"), "is its own ancestor"),
    "unequal depth": ([("1", "a", "all"), ("2", "all")], "unequal depth"),
    "the character NUL": (tree("a\0", "b", "all"), "not a text that a file can hold"),
    "half a character": (tree("a\ud800", "b", "all"), "not a text that a file can hold"),
}


def people(kind: str, missing: bool = False) -> pa.Table:
    """Sixty rows over the four leaves."""
    chance = np.random.default_rng(1)
    codes = [None if missing and row in (3, 9) else int(code) for row, code in enumerate(chance.integers(1, 5, 60))]
    given = codes if kind == "numeric" else [None if code is None else str(code) for code in codes]
    return pa.table({"code": given, "age": chance.integers(20, 60, 60), "s": chance.choice(list("xyz"), 60)})


def read(kind: str, rows: list[tuple[str, ...]], missing: bool = False) -> dc.Table:
    """The table with this hierarchy of its codes."""
    kinds = {kind: ["code"]}
    hierarchies = {"code": dc.Hierarchy.from_rows("code", rows)}
    return dc.read(
        people(kind, missing), quasi=["code", "age"], sensitive="s", hierarchies=hierarchies, missing="value", **kinds
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PUBLISHED)
def test_an_odd_hierarchy_is_published_and_audited(name: str, kind: str, tmp_path: Path) -> None:
    """Whatever the labels look like, the files say the same to whoever loads, audits and asks them."""
    missing = name == "named root"
    table = read(kind, PUBLISHED[name], missing)
    one = "1" if kind == "numeric" else "'1'"
    formats: tuple[Literal["csv", "parquet"], ...] = ("csv", "parquet")
    for values in ("label", "set"):
        release = dc.publish(table, "beta-likeness(beta=1)", dc.Cuts(values=values))
        for form in formats:
            folder = tmp_path / f"{values}-{form}"
            release.save(folder, format=form)
            assert dc.audit(folder, table).holds
            assert dc.audit(folder, table, trace=release.trace).holds
            loaded = dc.load(folder)
            sql = f"SELECT COUNT(*) FROM t WHERE code = {one}"
            assert loaded.estimate(sql) == pytest.approx(release.estimate(sql))
            assert loaded.group_by("SELECT code, COUNT(*) FROM t GROUP BY code").num_rows >= 4


@pytest.mark.parametrize("name", REFUSED)
def test_a_hierarchy_that_cannot_be_told_is_refused_when_it_is_read(name: str) -> None:
    """What would be read back as something else is refused before anything is published."""
    rows, why = REFUSED[name]
    with pytest.raises(DiscreetError, match=why):
        dc.Hierarchy.from_rows("code", rows)


@pytest.mark.parametrize("kind", KINDS)
def test_the_root_keeps_its_name_in_the_files(kind: str, tmp_path: Path) -> None:
    """The manifest tells the root's label, which the table uses where nothing less will do."""
    table = read(kind, below("all"))
    release = dc.publish(table, "beta-likeness(beta=0.02)", dc.Cuts(values="label"))
    release.save(tmp_path / "release")
    (code,) = (attribute for attribute in dc.load(tmp_path / "release").attributes if attribute.name == "code")
    assert code.hierarchy is not None and code.hierarchy.labels[-1] == ("all",)
    assert "all" in (tmp_path / "release" / "table.csv").read_text()


def test_another_name_of_the_root_is_another_hierarchy(tmp_path: Path) -> None:
    """A release that calls the root otherwise than the auditor's hierarchy does is not the one that was asked for."""
    dc.publish(read("categorical", below("all")), "beta-likeness(beta=1)").save(tmp_path / "release")
    verdict = dc.audit(tmp_path / "release", read("categorical", below("everything")))
    assert not verdict.holds


def test_a_named_root_from_the_command_line(tmp_path: Path) -> None:
    """Publishing, which audits, and an audit that knows only what the manifest says about the hierarchy."""
    import pyarrow.csv

    pyarrow.csv.write_csv(people("categorical"), tmp_path / "people.csv")
    (tmp_path / "code.csv").write_text("1;all\n2;all\n3;all\n4;all\n")
    folder, table = str(tmp_path / "release"), str(tmp_path / "people.csv")
    roles = ["--quasi", "code,age", "--sensitive", "s", "--hierarchy", f"code={tmp_path / 'code.csv'}"]
    published = CliRunner().invoke(main, ["publish", table, "-o", folder, *roles, "--promise", "beta-likeness(beta=1)"])
    assert published.exit_code == 0, published.output
    audited = CliRunner().invoke(main, ["audit", folder, "--original", table])
    assert audited.exit_code == 0, audited.output


@pytest.mark.parametrize("kind", ["numeric", "ordinal"])
def test_what_is_missing_has_no_place_among_values_in_order(kind: str) -> None:
    rows = [(str(code), "low" if code < 3 else "high", "all") for code in range(1, 5)]
    own = [*rows, ("(missing)", "none", "all")]
    assert read(kind, own, missing=True).column("code").missing == 0
    among = [*rows, ("(missing)", "high", "all")]
    with pytest.raises(dc.DiscreetError, match=r"'\(missing\)' under 'high' with other values, .* a node of its own"):
        read(kind, among, missing=True)
    assert read("categorical", among, missing=True).column("code").hierarchy is not None
