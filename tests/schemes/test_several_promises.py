"""Any promises about several sensitive attributes of any kind, kept by every generalizing scheme."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from hypothesis import event, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyarrow.csv import write_csv

import discreet as dc
from discreet.analyst.loss import losses
from discreet.analyst.workload import workload
from discreet.command.main import main
from discreet.datasets import census
from discreet.principles import Prior, parse
from discreet.principles.counts import Counts
from discreet.principles.joint import Jointly, jointly
from discreet.principles.per_attribute import by_attribute, concerned, on_numbers, stated
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.report.plan import plans
from discreet.report.profile import profile
from discreet.schemes import SCHEMES
from discreet.schemes.grouping import GroupingScheme
from discreet.table.table import Column, Table
from naive import principles as naive
from naive import proximity
from support.audits import audits

GENERALIZING = [name for name, scheme in SCHEMES.items() if issubclass(scheme, GroupingScheme)]


def people(rows: int, kinds: str, seed: int, missing: bool = False, persons: int | None = None) -> Table:
    """A table with a sensitive attribute for each letter: ``c`` categorical, ``o`` ordinal, ``n`` numeric."""
    chance = np.random.default_rng(seed)
    age = chance.integers(20, 60, rows)
    columns: dict[str, Any] = {
        "age": pa.array(age, mask=(chance.random(rows) < 0.1) & (np.arange(rows) > 0) if missing else None),
        "city": chance.choice(["Bonn", "Essen", "Jena"], rows),
    }
    for at, kind in enumerate(kinds):
        width = int(chance.integers(2, 6)) if kind != "n" else int(chance.choice([6, 40]))
        rising = (age - 20) * width // 40 if chance.random() < 0.3 else 0
        codes = (chance.integers(0, width, rows) + rising) % width
        columns[f"s{at}"] = codes * 10 if kind == "n" else [f"v{code}" for code in codes]
    names = [f"s{at}" for at in range(len(kinds))]
    if persons is not None:
        columns["id"] = chance.integers(0, persons, rows)
    return dc.read(
        pa.table(columns),
        quasi=["age", "city"],
        sensitive=names,
        ordinal=[name for name, kind in zip(names, kinds, strict=True) if kind == "o"],
        person=None if persons is None else "id",
        missing="withhold" if missing else "error",
    )


def distance(group: list[int], prior: list[int], which: str | None) -> Fraction:
    """The earth mover's distance: what has to be moved, or how many steps it is moved along values that occur."""
    gaps = [q - p for q, p in zip(naive.shares(group), naive.shares(prior), strict=True)]
    if which != "ordered":
        return sum((max(gap, Fraction(0)) for gap in gaps), Fraction(0))
    known = [gap for gap, count in zip(gaps, prior, strict=True) if count]
    carried = (abs(sum(known[: at + 1], Fraction(0))) for at in range(len(known)))
    return sum(carried, Fraction(0)) / max(1, len(known) - 1)


def kept(promise: str, groups: list[NDArray[np.int64]], codes: NDArray[np.int32], values: NDArray[Any]) -> bool:
    """Whether groups of rows keep a promise about one attribute, by the definition."""
    name, _, inside = promise.rstrip(")").partition("(")
    given = dict(one.strip().split("=") for one in inside.split(","))
    prior = np.bincount(codes, minlength=len(values)).tolist()
    for rows in groups:
        group = np.bincount(codes[rows], minlength=len(values)).tolist()
        if not len(rows):
            continue
        if name == "l-diversity":
            good = naive.frequency(group, float(given["l"]))
        elif name == "beta-likeness":
            good = naive.beta_likeness(group, prior, float(given["beta"]), "enhanced")
        elif name == "t-closeness":
            good = distance(group, prior, given.get("distance")) <= Fraction(given["t"]) + naive.SLACK
        elif name == "delta-disclosure":
            good = naive.delta_disclosure(group, prior, float(given["delta"]))
        else:
            assert name == "proximity", name
            numbers = [Fraction(int(values[code])) for code in codes[rows]]
            epsilon = Fraction(given["epsilon"])
            good = proximity.holds(numbers, int(given["m"]), "absolute", epsilon, epsilon)
        if not good:
            return False
    return True


ABOUT_NAMES = ["l-diversity(l=1.5)", "beta-likeness(beta=2)", "t-closeness(t=0.5)", "beta-likeness(beta=4)"]
ABOUT_ORDER = [*ABOUT_NAMES, "t-closeness(t=0.4, distance=ordered)"]
ABOUT_NUMBERS = [*ABOUT_ORDER, "proximity(epsilon=0, m=2)", "proximity(epsilon=10, m=2)"]


@pytest.mark.slow
@given(
    scheme=st.sampled_from(GENERALIZING),
    rows=st.integers(2, 120),
    kinds=st.sampled_from(["cc", "cn", "nc", "nn", "co", "ccn", "onc"]),
    seed=st.integers(0, 2**20),
    missing=st.sampled_from([False, False, True]),
    data=st.data(),
)
@settings(max_examples=70, deadline=None)
def test_every_scheme_keeps_what_is_promised_about_each(
    scheme: str, rows: int, kinds: str, seed: int, missing: bool, data: st.DataObject
) -> None:
    """From the definitions: every promise about its attribute, in every group and by the withheld rows."""
    table = people(rows, kinds, seed, missing)
    choices = {"c": ABOUT_NAMES, "o": ABOUT_ORDER, "n": ABOUT_NUMBERS}
    each = [data.draw(st.sampled_from(choices[kind])) for kind in kinds]
    wanted = [f"{promise[:-1]}, attribute=s{at})" for at, promise in enumerate(each)]
    try:
        release = dc.publish(table, wanted, SCHEMES[scheme](), most_withheld=1)
    except dc.DiscreetError:
        event(f"{scheme} refused")
        return
    event(f"{scheme} published")
    assert isinstance(release, GeneralizedRelease) and release.trace is not None
    groups = [np.flatnonzero(release.trace == group) for group in np.unique(release.trace)]
    for promise, column in zip(each, table.sensitive, strict=True):
        assert kept(promise, groups, column.codes, column.values), (promise, column.name)
    audits(release, table, promises=wanted)


@pytest.mark.parametrize("scheme", GENERALIZING)
def test_every_scheme_publishes_several(scheme: str) -> None:
    """Not only refuses: a table on which each has something to publish, with rows to withhold."""
    table = people(150, "cnc", 3, missing=True)
    promise = {
        "sabre": "t-closeness(t=0.6)",
        "proximity": "proximity(epsilon=0, m=2, attribute=s1) & l-diversity(l=1.4)",
    }
    release = dc.publish(table, promise.get(scheme, "l-diversity(l=1.4)"), SCHEMES[scheme](), most_withheld=1)
    assert isinstance(release, GeneralizedRelease)
    assert release.groups > 3 and release.withheld > 0 and len(release.sensitive_columns) == 3
    audits(release, table)


def test_rows_keep_the_values_of_a_person_together() -> None:
    """A published row has the sensitive values of one row of the original."""
    table = people(80, "cn", 4)
    release = dc.publish(table, "l-diversity(l=1.5)", "cuts")
    assert isinstance(release, GeneralizedRelease)
    had = sorted(zip(*(column.values[column.codes].tolist() for column in table.sensitive), strict=True))
    assert sorted(zip(*(one.values[one.codes].tolist() for one in release.sensitive_columns), strict=True)) == had
    assert any("side by side" in sentence for sentence in release.manifest["assumptions"])
    told = audits(release, table)[0].verdict
    assert "about each sensitive attribute separately: an attacker who knows one of a person's sensitive values" in told


# ---------------------------------------------------------------------------------------------------------- the rule


def test_which_promise_is_about_which_attribute() -> None:
    table = people(60, "con", 1)
    priors = [Prior.of_column(column) for column in table.sensitive]
    for text, about in {
        "k-anonymity(k=2)": "con",
        "l-diversity(l=1.2)": "con",
        "t-closeness(t=0.2, distance=ordered)": "on",
        "t-closeness(t=0.2, distance=hierarchical)": "",
        "beta-likeness(beta=1, level=1)": "",
        "proximity(epsilon=1, m=2)": "n",
        "variance(v=1)": "n",
        "ke-anonymity(k=1, e=1)": "n",
        "alpha-beta(alpha=0.5, beta=0.9, attribute=s0)": "c",
        "proximity(epsilon=1, m=2, attribute=s0)": "c",  # named, so it is not passed over but refused
    }.items():
        which = concerned(parse(text), priors)
        assert "".join(kind for kind, own in zip("con", which, strict=True) if own) == about, text
    everything = "l-diversity(l=1.2) & variance(v=1) & t-closeness(t=0.9, distance=ordered, attribute=s1)"
    texts = [str(one.promise) for one in by_attribute(parse(everything), table)]
    assert texts == [
        "l-diversity(l=1.2, attribute=s0)",
        "l-diversity(l=1.2, attribute=s1) & t-closeness(t=0.9, distance=ordered, attribute=s1)",
        "l-diversity(l=1.2, attribute=s2) & variance(v=1, attribute=s2)",
    ]
    # what names none in a manifest is about all
    assert [str(part) for part in stated(parse("l-diversity(l=1.2) & variance(v=1)"), table).parts] == [
        "l-diversity(l=1.2)",
        "variance(v=1, attribute=s2)",
    ]


def test_what_is_not_promised_is_told() -> None:
    table = people(60, "cn", 1)
    for text, told in {
        "proximity(epsilon=1, m=2)": "nothing is promised about the values of the sensitive attribute 's0'",
        "l-diversity(l=1.2, attribute=s0)": "nothing is promised about the values of the sensitive attribute 's1'",
        "k-anonymity(k=3)": "nothing is promised about the values of the sensitive attribute 's0'",
        "l-diversity(l=1.2) & beta-likeness(beta=1, level=2)": "fits none of the sensitive attributes 's0' and 's1'",
        "l-diversity(l=1.2) & variance(v=1, attribute=s0)": "is about numbers and the sensitive attribute 's0'",
        "l-diversity(l=1.2, attribute=pay)": "names the attribute 'pay', which is not sensitive",
    }.items():
        with pytest.raises(dc.DiscreetError, match=told):
            dc.publish(table, text, "cuts")
    (note,) = on_numbers(parse("l-diversity(l=1.2) & proximity(epsilon=1, m=2)"), table)
    assert "it is kept about 's1' too" in note and "write l-diversity(l=1.2, attribute=s0)" in note
    assert on_numbers(parse("l-diversity(l=1.2)"), people(60, "cc", 1)) == []
    assert on_numbers(parse("l-diversity(l=1.2)"), people(60, "nn", 1)) == []


@pytest.mark.parametrize("text", ["l-diversity(l=3", "t-closeness(t=0.1", "beta-likeness(beta=1", "variance(v=1"])
def test_every_promise_about_values_can_name_its_attribute(text: str) -> None:
    named = parse(f'{text}, attribute="pay (EUR)")')
    assert named.about == "pay (EUR)" and parse(str(named)) == named
    with pytest.raises(dc.DiscreetError, match="but the sensitive attribute is 'ill'"):
        named.require(Prior([1, 1], ("1", "2"), "numeric", attribute="ill"))


# ----------------------------------------------------------------------------------------------------------- judging


@given(seed=st.integers(0, 2**20), kinds=st.sampled_from(["cc", "cn", "ocn"]))
@settings(max_examples=40, deadline=None)
def test_combinations_are_judged_by_the_counts_of_each_attribute(seed: int, kinds: str) -> None:
    """The strain by counts of combinations is the largest of the strains by each attribute's own counts."""
    table = people(60, kinds, seed)
    asked = parse("l-diversity(l=1.5) & t-closeness(t=0.4, attribute=s0) & beta-likeness(beta=3) & k-anonymity(k=4)")
    view, promise, prior = jointly(asked, table)
    assert isinstance(promise, Jointly) and view.sensitive_codes.max() + 1 == len(prior.counts)
    groups = np.random.default_rng(seed).integers(0, 6, table.rows)
    together = promise.strain(Counts.of_rows(groups, view.sensitive_codes, 6, len(prior.counts)), prior)
    each = np.zeros(6)
    for column, one in zip(table.sensitive, by_attribute(asked, table), strict=True):
        own = Counts.of_rows(groups, column.codes, 6, len(column.values))
        each = np.maximum(each, one.promise.strain(own, one.prior))
    assert ((together <= 1.0) == (each <= 1.0)).all()
    assert together[each <= 1.0] == pytest.approx(each[each <= 1.0])


def test_bounds_on_combinations_would_not_do() -> None:
    """No combination becomes likelier than beta-likeness allows, and yet a value of one attribute does."""
    source = {"age": range(12), "ill": list("aaabbbcccddd"), "job": list("xyzxyzxyzxyz")}
    table = dc.read(pa.table(source), quasi=["age"], sensitive=["ill", "job"])
    view, promise, prior = jointly(parse("beta-likeness(beta=2)"), table)
    group = np.isin(np.arange(12), [0, 1, 2])  # all have a, each with another job
    counts = np.bincount(view.sensitive_codes[group], minlength=len(prior.counts))
    assert dc.BetaLikeness(4, "basic").holds(counts[None], prior).all()
    assert not promise.holds(counts[None], prior).any()
    assert promise.explain(counts, prior).startswith("About 'ill': 'a' makes up 100.0 % of this group")


def test_closeness_of_all_attributes_is_the_naive_approach() -> None:
    """Definition 1 of CODIP: k-anonymous groups of which every attribute's distribution is within t of the table's."""
    table = people(200, "ccc", 8)
    release = dc.publish(table, "k-anonymity(k=5) & t-closeness(t=0.3)", "mondrian")
    assert isinstance(release, GeneralizedRelease) and release.trace is not None and release.groups > 1
    groups = [np.flatnonzero(release.trace == group) for group in range(release.groups)]
    assert min(map(len, groups)) >= 5
    assert all(kept("t-closeness(t=0.3)", groups, column.codes, column.values) for column in table.sensitive)


@pytest.mark.slow
def test_proximity_by_cuts_needs_all_rows_to_keep_it() -> None:
    """What can be dealt to groups need not hold for all rows as one group, from which cuts start."""
    source = {"age": range(40), "pay": range(40), "ill": list("abcd") * 10}
    table = dc.read(pa.table(source), quasi=["age"], sensitive=["pay", "ill"])
    promise = "proximity(epsilon=5, m=3, attribute=pay) & l-diversity(l=2, attribute=ill)"
    audits(dc.publish(table, promise, "cuts"), table)
    wider = promise.replace("epsilon=5", "epsilon=10")
    for scheme in ("cuts", "mondrian", "burel"):
        with pytest.raises(dc.DiscreetError, match=r"as one group.*About 'pay'.*choose scheme 'proximity'"):
            dc.publish(table, wider, scheme)
    audits(dc.publish(table, wider, "proximity"), table)


# ----------------------------------------------------------------------------------------- persons and other commands


@pytest.mark.parametrize("scheme", ["cuts", "mondrian", "burel"])
def test_persons_with_several_rows(scheme: str, tmp_path: Path) -> None:
    table = people(300, "cc", 2, persons=150)
    release = dc.publish(table, "beta-likeness(beta=3)", scheme)
    assert isinstance(release, GeneralizedRelease) and release.trace is not None and release.groups > 3
    assert table.person is not None
    for group in range(release.groups):
        rows = np.flatnonzero(release.trace == group)
        inside = set(table.person[rows].tolist())
        assert inside.isdisjoint(table.person[np.flatnonzero(release.trace != group)].tolist())
        for column in table.sensitive:
            held = list(zip(table.person.tolist(), column.codes.tolist(), strict=True))
            for value in range(len(column.values)):
                having = {person for person, code in held if code == value}
                share = Fraction(len(having), table.persons)
                assert len(having & inside) <= naive.cap(share, 3.0, "enhanced") * len(inside) + naive.SLACK
    release.save(tmp_path / "release")
    found = dc.audit(tmp_path / "release", table, trace=release.trace)
    assert found.holds, found.sentences()
    assert [check.name for check in found.checks].count("persons") == 1


def test_plans_profiles_and_workloads() -> None:
    table = people(100, "cn", 6)
    assert [told.sensitive for told in plans(table, epsilon=5)] == ["s0", "s1"]
    assert [told.proximity is not None for told in plans(table, epsilon=5)] == [False, True]
    with pytest.raises(dc.DiscreetError, match="is about numbers"):
        plans(people(100, "cc", 6), epsilon=5)
    promises = [one.promise for one in profile(table).reachable]
    assert promises[0] == "k-anonymity(k=5)" and len(set(promises)) == len(promises)
    assert {parse(one).about for one in promises[1:]} == {"s0", "s1"}
    asked = {query.conditions[-1].attribute for query in workload(table, number=50)}
    assert asked == {"s0", "s1"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("several")
    chance = np.random.default_rng(5)
    rows = 240
    columns = {
        "age": chance.integers(20, 60, rows),
        "disease": chance.choice(["flu", "cold", "angina"], rows),
        "income": chance.integers(0, 60, rows) * 1000,
    }
    write_csv(pa.table(columns), folder / "people.csv")
    return folder


def run(home: Path, *words: str) -> Result:
    return CliRunner().invoke(main, [words[0], str(home / "people.csv"), *words[1:]])


ROLES = ("--quasi", "age", "--sensitive", "disease,income")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", [None, "cuts", "mondrian", "burel", "heterogeneous"])
def test_the_command_line(home: Path, scheme: str | None) -> None:
    out = home / f"release-{scheme}"
    promises = ["--promise", "beta-likeness(beta=2, attribute=disease)"]
    promises += ["--promise", "proximity(epsilon=2000, m=4, attribute=income)"]
    words = [*promises, *([] if scheme is None else ["--scheme", scheme])]
    done = run(home, "publish", "-o", str(out), *ROLES, *words, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert [one["attribute"] for one in told["promises"]] == ["disease", "income"]
    check = CliRunner().invoke(main, ["audit", str(out), "--original", str(home / "people.csv"), *ROLES, *promises])
    assert check.exit_code == 0 and "about each sensitive attribute separately" in " ".join(check.output.split())
    question = "SELECT COUNT(*) FROM t WHERE disease = 'flu' AND income >= 30000"
    asked = CliRunner().invoke(main, ["query", str(out), question, "--json"])
    lines = [line.replace('"', "").split(",") for line in (home / "people.csv").read_text().split()[1:]]
    exact = sum(disease == "flu" and int(income) >= 30000 for _, disease, income in lines)
    assert json.loads(asked.stdout)["estimate"] == pytest.approx(exact)


@pytest.mark.slow
def test_other_commands(home: Path) -> None:
    note = "beta-likeness(beta=4) names no attribute, so it is kept about 'income' too"
    done = run(home, "publish", "-o", str(home / "all"), *ROLES, "--promise", "beta-likeness(beta=4)")
    assert done.exit_code == 0 and note in " ".join(done.output.split())
    done = run(home, "plan", *ROLES, "--epsilon", "2000", "--json")
    assert done.exit_code == 0 and [one["sensitive"] for one in json.loads(done.stdout)["plans"]] == [
        "disease",
        "income",
    ]
    done = run(home, "plan", *ROLES, "--plot", str(home / "plot.svg"))
    assert done.exit_code == 0 and (home / "plot.svg").read_bytes().startswith(b"<svg ")
    done = run(home, "profile", *ROLES, "--json")
    assert "--promise 'k-anonymity(k=5)' --promise 'beta-likeness(beta=2, attribute=disease)'" in done.stdout
    words = ["--promise", "l-diversity(l=2)", "--schemes", "cuts,anatomy,lifting", "--queries", "50", "--json"]
    done = run(home, "compare", *ROLES, *words)
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["sensitive"] == ["disease", "income"]
    cuts, anatomy, lifting = told["results"]
    assert cuts["holds"] and anatomy["holds"] and set(cuts["achieved"]) == {"l (disease)", "l (income)"}
    assert "choose scheme 'cuts'" in lifting["refusal"]


def test_lines_in_the_order_of_another_attribute_are_found(home: Path) -> None:
    table = dc.read(home / "people.csv", quasi=["age"], sensitive=["disease", "income"])
    release = dc.publish(table, "l-diversity(l=2)", "cuts")
    assert isinstance(release, GeneralizedRelease)
    order = np.argsort(release.sensitive_columns[1].codes, kind="stable")
    sorted_rows = replace(
        release,
        group_of=release.group_of[order],
        sensitive_columns=tuple(one._replace(codes=one.codes[order]) for one in release.sensitive_columns),
    )
    sorted_rows.save(home / "sorted")
    (found,) = [check for check in dc.audit(home / "sorted", table).checks if not check.holds]
    assert found.name == "order" and "table.csv" in found.sentence


def test_refusals_name_a_scheme_that_can() -> None:
    """What hides presence is kept by ambiguity, however many attributes are sensitive."""
    table = people(80, "cc", 2)
    for scheme in set(SCHEMES) - {"cuts", "mondrian", "incognito", "burel", "heterogeneous", "ambiguity"}:
        with pytest.raises(dc.DiscreetError, match="choose scheme 'ambiguity'"):
            dc.publish(table, "alpha-beta(alpha=0.7, beta=0.9)", scheme)
    audits(dc.publish(table, "alpha-beta(alpha=0.7, beta=0.9)"), table)


def test_every_family_of_cuts_takes_part() -> None:
    """Stratified and repaired cuts lower the loss, as they do for one attribute."""
    table = census(20_000, quasi=("age", "education", "gender"), sensitive="occupation")
    weights = np.arange(1, 21) / 210
    codes = np.random.default_rng(0).choice(20, size=table.rows, p=weights).astype(np.int32)
    grade = Column("grade", "ordinal", codes, np.array([f"g{code}" for code in range(20)], object))
    table = replace(table, sensitive=(*table.sensitive, grade))
    found = []
    for cuts in ("plain", "plain+stratified+bucketed", "plain+stratified+bucketed+repaired"):
        release = dc.publish(
            table, "beta-likeness(beta=4)", SCHEMES["cuts"].from_texts({"cuts": cuts, "snap": "false"}, random_state=1)
        )
        found.append(losses(release)["ail"])
    assert found[0] > 1.1 * found[1] > 1.5 * found[2], found
    with pytest.raises(dc.DiscreetError, match="needs a promise that bounds every value"):
        dc.publish(table, "t-closeness(t=0.5)", SCHEMES["cuts"].from_texts({"cuts": "repaired"}))
