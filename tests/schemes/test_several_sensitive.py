"""Several sensitive attributes at once: one release that keeps what is promised about each, or a reason why not."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import event, given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.adversary.audit import audit
from discreet.command.main import main
from discreet.families.proximity.scheme import SplitAndPartition
from discreet.principles import Prior, parse
from discreet.principles.per_attribute import by_attribute, stated
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.schemes import SCHEMES
from discreet.schemes.grouping import GroupingScheme
from discreet.table.read import read
from discreet.table.table import Table
from naive import proximity as naive
from support.audits import audits
from support.tampering import describe


def people(n: int, attributes: int, seed: int, missing: bool = False) -> Table:
    """A table with several numeric sensitive attributes: ties, zeros, numbers that follow the age or do not."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 60, n)
    columns: dict[str, object] = {"city": [["Bonn", "Essen", "Jena"][i] for i in rng.integers(0, 3, n)]}
    columns["age"] = pa.array(age, mask=(rng.random(n) < 0.1) & (np.arange(n) > 0) if missing else None)
    for at in range(attributes):
        numbers = rng.integers(-20, 60, n) * (1 + at) + (age if rng.random() < 0.3 else 0)
        numbers[rng.random(n) < rng.choice([0.0, 0.2])] = 0
        columns[f"s{at}"] = numbers
    return read(
        pa.table(columns),
        quasi=["age", "city"],
        sensitive=[f"s{at}" for at in range(attributes)],
        missing="withhold" if missing else "error",
    )


# -------------------------------------------------------------------------------------------------------------- tables


def test_a_table_has_a_first_sensitive_attribute_and_others() -> None:
    table = people(10, 3, 1)
    assert table.sensitive_attribute is not None and table.sensitive_attribute.name == "s0"
    assert [column.name for column in table.sensitive[1:]] == ["s1", "s2"]
    assert [column.name for column in table.columns] == ["age", "city", "s0", "s1", "s2"]
    assert table.column("s2") is table.sensitive[2] and repr(table).count("sensitive") == 3
    one = read(pa.table({"a": [1], "b": [2]}), quasi=["a"], sensitive=["b"])
    assert one.sensitive == (one.sensitive_attribute,)
    with pytest.raises(dc.DiscreetError, match="'b' is named twice"):
        read(pa.table({"a": [1], "b": [2]}), quasi=["a"], sensitive=["b", "b"])
    assert Table(10, table.quasi, table.sensitive_attribute).sensitive == table.sensitive[:1]
    assert Table(10, table.quasi, None).sensitive == () and Table(10, table.quasi, None).sensitive_attribute is None


def test_schemes_for_one_attribute_refuse_it_and_name_one_that_does_not() -> None:
    table = people(40, 2, 1)
    for name, scheme in SCHEMES.items():
        if scheme.several:
            others = ("codip", "anatomy", "baseline", "ambiguity", "sealed", "mirrored", "privbayes")
            assert issubclass(scheme, GroupingScheme) or name in others, name
            continue
        for promise, way in (
            ("proximity(epsilon=1, m=2)", "proximity"),
            ("alpha-beta(alpha=0.5, beta=0.5)", "ambiguity"),
        ):
            told = rf"protects one sensitive attribute and the table has several \(s0, s1\).* choose scheme '{way}'"
            with pytest.raises(dc.DiscreetError, match=told):
                dc.publish(table, promise, name)


# ------------------------------------------------------------------------------------------------------------- release


@pytest.mark.slow
@given(
    n=st.integers(1, 150),
    attributes=st.integers(2, 3),
    seed=st.integers(0, 2**20),
    m=st.integers(1, 4),
    epsilon=st.sampled_from([0.0, 1.0, 4.0]),
    k=st.sampled_from([1, 1, 5]),
    relative=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_every_release_passes_its_audit(
    n: int, attributes: int, seed: int, m: int, epsilon: float, k: int, relative: bool
) -> None:
    table = people(n, attributes, seed)
    promise: dc.Principle = dc.Proximity(epsilon, m)
    if relative:
        promise = promise & dc.Proximity(0.05, m, "relative", attribute="s1")
    if k > 1:
        promise = promise & dc.KAnonymity(k)
    each = by_attribute(promise, table)
    alone = all(one.promise.reachable(one.prior).feasible for one in each)
    try:
        release = dc.publish(table, promise)
    except dc.DiscreetError as refusal:
        told = "each promise can be kept alone" if alone else "this table cannot keep"
        assert told in str(refusal), str(refusal)
        whole = [one.promise.holds(one.prior.counts[None], one.prior)[0] for one in each]
        assert not all(whole)  # what keeps everything as one group is never refused
        event("refused")
        return
    event("published")
    assert isinstance(release, GeneralizedRelease) and release.trace is not None and release.withheld == 0
    for result in audits(release, table):
        assert {kept.attribute for kept in result.promises} >= {column.name for column in table.sensitive}
    # and by the definition, on every attribute
    for column in table.sensitive:
        numbers = [Fraction(int(value)) for value in np.asarray(column.values)[column.codes]]
        for group in range(release.groups):
            held = [numbers[row] for row in np.flatnonzero(release.trace == group)]
            assert len(held) >= k
            assert naive.holds(held, m, "absolute", Fraction(epsilon), Fraction(epsilon))


@pytest.mark.slow
def test_how_often_a_refusal_was_avoidable() -> None:
    """Against every partition of tiny tables: nothing impossible is published, and few possible ones are refused."""
    found: Counter[tuple[bool, bool]] = Counter()
    for turn in range(1200):
        rng = np.random.default_rng(turn)
        n, attributes = int(rng.integers(4, 9)), int(rng.integers(2, 4))
        columns = [rng.integers(0, rng.choice([8, 20]), n).tolist() for _ in range(attributes)]
        exact = [[Fraction(number) for number in column] for column in columns]
        asked = [(int(rng.integers(2, 4)), Fraction(int(rng.integers(0, 3)))) for _ in range(attributes)]
        if any(naive.maxsize(own, "absolute", e, e) * m > n for own, (m, e) in zip(exact, asked, strict=True)):
            continue  # not even alone
        can = naive.feasible_together(exact, [(at, m, "absolute", e, e) for at, (m, e) in enumerate(asked)])
        names = [f"s{at}" for at in range(attributes)]
        source = {"age": rng.integers(0, 5, n), **dict(zip(names, columns, strict=True))}
        table = read(pa.table(source), quasi=["age"], sensitive=names)
        parts = [dc.Proximity(float(e), m, attribute=name) for name, (m, e) in zip(names, asked, strict=True)]
        try:
            dc.publish(table, " & ".join(map(str, parts)), SplitAndPartition(random_state=turn))
            found[can, True] += 1
        except dc.DiscreetError:
            found[can, False] += 1
    assert found[False, True] == 0
    assert found[False, False] > 10 and found[True, True] > 150
    assert found[True, False] <= 0.05 * found[True, True], found


def test_an_attribute_of_names_goes_along() -> None:
    rng = np.random.default_rng(3)
    source = {"age": rng.integers(20, 70, 200), "pay": rng.integers(0, 500, 200), "ill": rng.choice(list("abcd"), 200)}
    table = read(pa.table(source), quasi=["age"], sensitive=["pay", "ill"])
    with pytest.raises(dc.DiscreetError, match="nothing is promised about the values of the sensitive attribute 'ill'"):
        dc.publish(table, "proximity(epsilon=20, m=3, attribute=pay) & k-anonymity(k=4)")
    with pytest.raises(dc.DiscreetError, match="nothing is promised about the values of the sensitive attribute 'ill'"):
        dc.publish(table, "proximity(epsilon=20, m=3)")
    with pytest.raises(dc.DiscreetError, match="is about numbers and the sensitive attribute 'ill' is categorical"):
        dc.publish(table, "proximity(epsilon=20, m=3, attribute=ill) & l-diversity(l=2)")
    with pytest.raises(dc.DiscreetError, match="names the attribute 'wage', which is not sensitive"):
        dc.publish(table, "proximity(epsilon=20, m=3, attribute=wage) & l-diversity(l=2)")
    release = dc.publish(table, "proximity(epsilon=20, m=3, attribute=pay) & l-diversity(l=2)")
    assert isinstance(release, GeneralizedRelease) and release.groups > 20
    audits(release, table)
    assert any("side by side" in sentence for sentence in release.manifest["assumptions"])


@pytest.mark.slow
def test_rows_that_have_to_be_withheld() -> None:
    more = 0
    for seed in range(12):
        table = people(80, 2, seed, missing=True)
        release = dc.publish(table, "proximity(epsilon=1, m=3)", most_withheld=1)
        assert table.unusable is not None and 80 > release.withheld >= len(table.unusable)
        more += release.withheld > len(table.unusable)
        audits(release, table)
    assert more  # where the unusable rows alone would not keep it


def test_one_row_that_has_to_be_withheld_takes_others_along() -> None:
    rng = np.random.default_rng(3)
    ages = pa.array([None, *rng.integers(20, 60, 79).tolist()])
    columns = {"age": ages, "wage": rng.integers(0, 900, 80), "hours": rng.integers(0, 60, 80)}
    table = read(pa.table(columns), quasi=["age"], sensitive=["wage", "hours"], missing="withhold")
    release = dc.publish(table, "proximity(epsilon=5, m=3)", most_withheld=1)
    assert 3 <= release.withheld <= 20
    audits(release, table)
    with pytest.raises(dc.DiscreetError, match=r"'hours'|together"):
        dc.publish(table, "proximity(epsilon=5, m=12)")


def test_a_function_is_stated_for_each_attribute() -> None:
    table = people(60, 2, 5)
    promise = dc.Proximity(m=2, neighbourhood=lambda x: (x - 1, x + 2))
    texts = [part.text for part in stated(promise, table).parts]
    assert [text.rsplit("=", 1)[1] for text in texts] == ["s0)", "s1)"]
    release = dc.publish(table, promise)
    assert release.manifest["promise"] == texts
    audits(release, table)


# --------------------------------------------------------------------------------------------------------------- audit


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("several")
    rng = np.random.default_rng(7)
    lines = zip(rng.integers(20, 60, 120), rng.integers(0, 900, 120), rng.integers(0, 60, 120), strict=True)
    (home / "people.csv").write_text("age,wage,hours\n" + "".join(f"{a},{w},{h}\n" for a, w, h in lines))
    return home


WORDS = ["--quasi", "age", "--sensitive", "wage,hours"]


def test_the_command_line_and_the_audit_of_each_attribute(folder: Path) -> None:
    run, out = CliRunner(), folder / "release"
    words = ["publish", str(folder / "people.csv"), "-o", str(out), *WORDS, "--json", "--force"]
    words += ["--promise", "proximity(epsilon=20, m=3, attribute=wage)", "--promise"]
    done = run.invoke(main, [*words, "proximity(epsilon=1, m=3, attribute=hours)"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert [one["attribute"] for one in told["promises"]] == ["wage", "hours"] and told["scheme"]["name"] == "proximity"
    check = ["audit", str(out), "--original", str(folder / "people.csv"), "--json"]
    again = run.invoke(main, check)
    assert again.exit_code == 0 and json.loads(again.stdout)["holds"]
    stricter = run.invoke(main, [*check, "--promise", "proximity(epsilon=30, m=3, attribute=hours)"])
    assert stricter.exit_code == 1
    broken = [one for one in json.loads(stricter.stdout)["promises"] if not one["holds"]]
    assert [one["attribute"] for one in broken] == ["hours"] and "About 'hours'" in broken[0]["sentence"]
    strange = run.invoke(main, [*check, "--promise", "proximity(epsilon=30, m=3, attribute=tax)"])
    assert strange.exit_code == 1 and "names the attribute 'tax'" in strange.output
    asked = run.invoke(main, ["query", str(out), "SELECT COUNT(*) FROM t WHERE hours >= 30", "--json"])
    hours = [int(line.split(",")[2]) for line in (folder / "people.csv").read_text().split()[1:]]
    assert json.loads(asked.stdout)["estimate"] == pytest.approx(sum(hour >= 30 for hour in hours))


def test_a_release_whose_second_attribute_was_altered_fails(folder: Path) -> None:
    table = read(folder / "people.csv", quasi=["age"], sensitive=["wage", "hours"])
    release = dc.publish(table, "proximity(epsilon=5, m=2)")
    home = folder / "altered"
    release.save(home, force=True)
    lines = (home / "table.csv").read_text().splitlines()
    cells = [line.split(",") for line in lines]
    numbers = [cell[-1] for cell in cells[1:]]
    for cell, hours in zip(cells[1:], sorted(numbers), strict=True):  # the same numbers, but on other rows
        cell[-1] = hours
    (home / "table.csv").write_text("\n".join(map(",".join, cells)) + "\n")
    found = audit(home, table)
    assert not found.holds and {check.name for check in found.checks if not check.holds} >= {"files", "totals"}
    release.save(home, force=True)
    manifest = json.loads((home / "release.json").read_text())
    manifest["promise"] = ["proximity(epsilon=5, m=2, attribute=wage)"]
    (home / "release.json").write_text(json.dumps(manifest))
    describe(home)
    unsaid = [check.sentence for check in audit(home, table).checks if not check.holds]
    assert unsaid == ["The manifest states no promise about the values of the sensitive attribute 'hours'."]
    other = read(folder / "people.csv", quasi=["age"], sensitive=["hours", "wage"])
    with pytest.raises(dc.DiscreetError, match=r"read it with sensitive=\['wage', 'hours'\]"):
        audit(home, other)
    with pytest.raises(dc.DiscreetError, match=r"read it with sensitive=\['wage', 'hours'\]"):
        audit(home, read(folder / "people.csv", quasi=["age"], sensitive="wage"))


def test_other_commands_and_files_take_several(folder: Path) -> None:
    run = CliRunner()
    for command in ("plan", "profile"):
        done = run.invoke(main, [command, str(folder / "people.csv"), *WORDS])
        assert done.exit_code == 0 and "'wage'" in done.output and "'hours'" in done.output, done.output
    words = ["publish", str(folder / "people.csv"), "-o", str(folder / "no"), *WORDS]
    done = run.invoke(main, [*words, "--promise", "k-anonymity(k=2)"])
    assert (
        done.exit_code == 2 and "nothing is promised about the values" in done.output and not (folder / "no").exists()
    )
    (folder / "job.toml").write_text(
        'input = "people.csv"\noutput = "by-job"\nquasi = ["age"]\nsensitive = ["wage", "hours"]\n'
        'promises = ["proximity(epsilon=2, m=2)"]\n'
    )
    assert run.invoke(main, ["publish", "--job", str(folder / "job.toml")]).exit_code == 0
    assert len(dc.load(folder / "by-job").attributes) == 3


def test_promises_name_their_attribute() -> None:
    text = "proximity(epsilon=2000, m=4, attribute=wage)"
    assert str(parse(text)) == text and parse(text).about == "wage"
    prior = Prior(np.array([1, 1]), ("1", "2"), "numeric", attribute="pay")
    with pytest.raises(dc.DiscreetError, match="names the attribute 'wage', but the sensitive attribute is 'pay'"):
        parse(text).require(prior)
    assert SplitAndPartition.several
