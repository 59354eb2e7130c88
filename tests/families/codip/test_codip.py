"""CODIP: the paper's examples, its Theorem 1 by brute force, plans within thresholds, and refusals."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.families.codip.plans import chosen, merged
from discreet.principles.prior import Prior
from discreet.table.dependency import dependency
from discreet.table.table import Table
from naive import codip as naive
from support.audits import audits
from support.projected import household, people

RAW = {
    "race": ["white", "white", "white", "black"],
    "sex": ["f", "m", "m", "m"],
    "diagnosis": ["HT", "HT", "DB", "AS"],
    "family history": ["HT", "DB", "HT", "AS"],
    "job": ["teacher", "lawyer", "farmer", "teacher"],
}
"""Table 1 (a) of the paper."""


def closeness(table: Table, groups: tuple[tuple[int, ...], ...]) -> list[float]:
    """The closeness of each sensitive attribute under a partition."""
    found = []
    for column in table.sensitive:
        prior = Prior.of_column(column)
        counts = np.array([np.bincount(column.codes[list(rows)], minlength=len(column.values)) for rows in groups])
        found.append(dc.TCloseness(1.0, "equal").achieved(counts, prior))
    return found


def partitions(rows: tuple[int, ...], k: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """All partitions of rows into groups of at least k."""
    if not rows:
        yield ()
        return
    for size in range(k - 1, len(rows)):
        for others in itertools.combinations(rows[1:], size):
            rest = tuple(row for row in rows[1:] if row not in others)
            for more in partitions(rest, k):
                yield ((rows[0], *others), *more)


def raw() -> Table:
    return dc.read(pa.table(RAW), quasi=["race", "sex"], sensitive=["diagnosis", "family history", "job"])


def test_example_1() -> None:
    """Of all 2-anonymized tables two reach 0.25 for the diagnosis alone, and none more than 0.5 for all attributes."""
    pairs = [groups for groups in partitions((0, 1, 2, 3), 2) if len(groups) == 2]
    assert len(pairs) == 3
    found = {groups: closeness(raw(), groups) for groups in pairs}
    assert found[((0, 1), (2, 3))] == pytest.approx([0.5, 0.25, 0.25])  # Table 1 (b)
    assert found[((0, 2), (1, 3))] == pytest.approx([0.25, 0.5, 0.25])  # (c)
    assert found[((0, 3), (1, 2))] == pytest.approx([0.25, 0.25, 0.5])  # (d)
    assert min(max(each) for each in found.values()) == pytest.approx(0.5)


@pytest.mark.parametrize("seed", range(6))
def test_theorem_1_by_brute_force(seed: int) -> None:
    """Closeness diminishes: the best for some attributes is never weaker than the best for more of them."""
    table = people(6, seed, attributes=3)
    found = [closeness(table, groups) for groups in partitions(tuple(range(6)), 2)]
    best = {
        some: min(max(each[at] for at in some) for each in found)
        for size in (1, 2, 3)
        for some in itertools.combinations(range(3), size)
    }
    for some, more in itertools.product(best, best):
        assert not set(some) <= set(more) or best[some] <= best[more] + 1e-12


def test_a_table_for_each_attribute_where_nothing_may_be_exposed() -> None:
    table = people(200, attributes=3, keep=["note"])
    release = dc.Codip(exposure=0.0).publish(table, dc.BetaLikeness(2))
    assert [[one.name for one in part.sensitive] for part in release.parts] == [["ill"], ["job"], ["home"]]
    assert [[one.name for one in part.attributes if one.role == "other"] for part in release.parts] == [
        ["note"],
        [],
        [],
    ]
    audits(release, table, promises="beta-likeness(beta=2)")


def test_promises_go_to_the_table_of_their_attribute() -> None:
    rng = np.random.default_rng(0)
    columns = {"age": rng.integers(20, 60, 200), "pay": rng.integers(0, 9, 200) * 100, "debt": rng.integers(0, 9, 200)}
    table = dc.read(pa.table(columns), quasi=["age"], sensitive=["pay", "debt"])
    promises = [dc.Proximity(100, 2, attribute="pay"), dc.Proximity(1, 2, attribute="debt")]
    release = dc.publish(table, promises, dc.Codip(exposure=0.0))
    first, second = release.projections
    assert first.manifest["promise"] == [str(promises[0])] and second.manifest["promise"] == [str(promises[1])]
    audits(release, table, promises=promises)
    with pytest.raises(dc.DiscreetError, match="'rent', which is not sensitive"):
        dc.Codip().publish(table, dc.Proximity(100, 2, attribute="rent"))


def test_one_sensitive_attribute_has_one_table() -> None:
    table = people(100, attributes=1)
    release = dc.Codip().publish(table, dc.LDiversity(2))
    assert len(release.parts) == 1
    audits(release, table, promises="l-diversity(l=2)")


def test_constant_and_unique_attributes() -> None:
    table = dc.read(
        pa.table({"age": list(range(40)), "same": ["x"] * 40, "own": [f"v{at}" for at in range(40)]}),
        quasi=["age"],
        sensitive=["same", "own"],
    )
    release = dc.Codip(exposure=0.0).publish(table, dc.KAnonymity(4) & dc.TCloseness(0.95))
    assert len(release.parts) == 2  # nothing is known of one attribute from the other, and all of it is exposed
    audits(release, table, promises="t-closeness(t=0.95)")


def test_withheld_rows_are_the_same_in_all_tables() -> None:
    rng = np.random.default_rng(2)
    pay: list[int | None] = [None if at % 20 == 0 else int(rng.integers(0, 4)) for at in range(120)]
    columns = {"age": pa.array([None if at % 30 == 7 else at % 40 for at in range(120)]), "pay": pa.array(pay)}
    columns["ill"] = pa.array(rng.choice(["a", "b", "c"], 120))
    table = dc.read(pa.table(columns), quasi=["age"], sensitive=["pay", "ill"], missing="withhold")
    release = dc.Codip(exposure=0.0).publish(table, dc.LDiversity(1.6))
    assert release.withheld > 0 and release.trace is not None
    assert ((release.trace < 0).sum(axis=1) % 2 == 0).all()
    audits(release, table, promises="l-diversity(l=1.6)")


def test_tables_with_the_same_groups_are_linked_by_their_descriptions_alone() -> None:
    """Each is in the order of its own content, so that the values of a group are sorted in both."""
    release = dc.Codip(exposure=0.0, random_state=3).publish(people(60), dc.KAnonymity(3) & dc.TCloseness(1))
    first, second = (part.tables(False)["table"]["age"].to_pylist() for part in release.parts)
    assert first == second == sorted(first)
    assert all(part.in_order() is part for part in release.parts)
    assert release.manifest["experimental_seed"] is True


@pytest.mark.parametrize(
    ("options", "promise", "sentence"),
    [
        ({"exposure": 0.0, "association": 0.1}, "k-anonymity(k=2)", r"ask for association=1, or for exposure=1"),
        ({}, "l-diversity(l=3)", "cannot keep"),
        ({"scheme": "lifting", "aligned": True}, "beta-likeness(beta=2)", "cannot publish one that it is given"),
        ({}, "alpha-beta(alpha=0.5, beta=0.5)", "together may tell more about who is in them"),
        ({"scheme": "nothing"}, "k-anonymity(k=2)", "no scheme is called 'nothing'"),
        ({"harmless": "job=none"}, "k-anonymity(k=2)", "has no value 'none' that could be harmless"),
    ],
)
def test_refusals(options: dict[str, object], promise: str, sentence: str) -> None:
    table = people(80)
    most = replace(table.sensitive[0], codes=np.where(np.arange(80) < 50, 0, table.sensitive[0].codes).astype(np.int32))
    table = replace(table, sensitive=(most, table.sensitive[1]))
    promise = promise if "l-div" in promise or "beta" in promise else f"{promise} & t-closeness(t=0.9)"
    with pytest.raises(dc.DiscreetError, match=sentence):
        dc.publish(table, promise, dc.Codip(**options))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        {"exposure": 2},
        {"association": -1},
        {"search": "worst"},
        {"steps": -1},
        {"harmless": "x"},
        {"scheme": "codip"},
    ],
)
def test_parameters_that_mean_nothing(wrong: dict[str, object]) -> None:
    with pytest.raises(dc.DiscreetError):
        dc.Codip(**wrong)  # type: ignore[arg-type]


def test_findings_of_the_paper_on_a_table_of_the_same_shape() -> None:
    """Figures 5 to 7 in kind: much less is exposed for a small loss; the number of tables stays small."""
    found = dependency(household(4000).sensitive)
    ways = {len(plan): plan for plan in merged(found, lambda plan: True)}
    assert sorted(ways) == list(range(1, 16))
    exposures, losses = (
        [ratio(ways[number]) for number in range(1, 16)] for ratio in (found.exposure, found.association_loss)
    )
    assert exposures == sorted(exposures, reverse=True) and losses == sorted(losses)
    assert any(exposure < 0.2 and loss < 0.2 for exposure, loss in zip(exposures, losses, strict=True))
    for exposure in (0.5, 0.2, 0.1, 0.05):
        theirs = merged(found, lambda plan, most=exposure: found.exposure(plan) <= most)[-1]
        ours = chosen(found, lambda plan: True, exposure, steps=0)
        assert ours is not None and found.exposure(ours) <= exposure
        assert found.association_loss(ours) <= found.association_loss(theirs) + 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("search", ["best", "paper"])
def test_attributes_that_go_together_share_a_table(search: str) -> None:
    table = household(500)
    promise = dc.KAnonymity(2) & dc.TCloseness(0.4)
    release = dc.Codip(search=search, steps=0, random_state=1).publish(table, promise)  # type: ignore[arg-type]
    found = dependency(table.sensitive)
    names = [column.name for column in table.sensitive]
    plan = tuple(tuple(names.index(one.name) for one in part.sensitive) for part in release.parts)
    assert found.exposure(plan) <= 0.2 and 1 < len(plan) < 15
    assert any({"occupation", "industry"} <= {one.name for one in part.sensitive} for part in release.parts)
    audits(release, table, promises=str(promise))


@pytest.mark.slow
def test_attributes_are_divided_alike_in_every_run() -> None:
    """What is drawn for tables is drawn anew, and does not change which tables there are."""
    table, promise = household(200), dc.KAnonymity(2) & dc.TCloseness(0.6)
    releases = [dc.Codip(exposure=0.1, steps=2000).publish(table, promise) for _ in range(2)]
    divided, again = ([[one.name for one in part.sensitive] for part in release.parts] for release in releases)
    assert divided == again and 1 < len(divided) < 15
    assert releases[0].manifest["scheme"]["options"]["steps"] == 2000


def test_aligned_tables_have_the_same_groups() -> None:
    table = people(300, attributes=3, keep=["note"])
    release = dc.Codip(exposure=0.0, aligned=True, random_state=5).publish(table, dc.BetaLikeness(1))
    assert release.trace is not None and len(release.parts) == 3
    groups = release.parts[0].groups
    assert groups > 3 and len(np.unique(release.trace, axis=0)) == groups
    boxes = [
        sorted(zip(*(table["age"].to_pylist(), table["sex"].to_pylist()), strict=True))
        for table in (part.tables(False)["table"] for part in release.parts)
    ]
    assert boxes[0] == boxes[1] == boxes[2]
    assert all(part.in_order() is part for part in release.parts), "each is in the order of what it says by itself"
    audits(release, table, promises="beta-likeness(beta=1)")


def test_a_promise_about_numbers_goes_to_the_numbers() -> None:
    rng = np.random.default_rng(0)
    columns = {
        "age": rng.integers(20, 60, 200),
        "pay": rng.integers(0, 9, 200) * 100,
        "ill": rng.choice(list("abc"), 200),
    }
    table = dc.read(pa.table(columns), quasi=["age"], sensitive=["pay", "ill"])
    promises = [dc.Proximity(100, 2), dc.LDiversity(2, attribute="ill")]
    release = dc.publish(table, promises, dc.Codip(exposure=0.0))
    assert [part.manifest["scheme"]["name"] for part in release.projections] == ["proximity", "cuts"]
    audits(release, table, promises=promises)


def test_where_no_table_can_have_two_attributes_the_next_best_plan_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables that the scheme cannot publish are left out of plans, and each is tried once."""
    table, tried = people(100, attributes=3), []
    publish = dc.Cuts.publish

    def alone(self: dc.Cuts, some: Table, *rest: object) -> object:
        tried.append(tuple(column.name for column in some.sensitive))
        if len(some.sensitive) > 1:
            raise dc.DiscreetError("two are too many")
        return publish(self, some, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(dc.Cuts, "publish", alone)
    release = dc.Codip(exposure=1.0).publish(table, dc.LDiversity(1.5))
    assert len(release.parts) == 3 and len(set(tried)) == len(tried) == 7
    with pytest.raises(dc.DiscreetError, match="two are too many"):
        dc.Codip(exposure=1.0, aligned=True).publish(table, dc.LDiversity(1.5))


def test_harmless_values_expose_nothing() -> None:
    """Where hardly anybody has a sensitive value, attributes may share a table."""
    rng = np.random.default_rng(1)
    columns = {"age": np.arange(200), "ill": rng.choice(["none at all", "flu"], 200, p=[0.9, 0.1])}
    columns["job"] = rng.choice(["none", "thief"], 200, p=[0.8, 0.2])
    columns["home"] = rng.choice(["a", "b"], 200)
    table = dc.read(pa.table(columns), quasi=["age"], sensitive=["ill", "job", "home"])
    tables = {}
    for harmless in ("", "ill=none at all; job=none"):
        release = dc.Codip(exposure=0.12, harmless=harmless).publish(table, dc.TCloseness(0.6))
        tables[harmless] = [[one.name for one in part.sensitive] for part in release.parts]
        audits(release, table, promises="t-closeness(t=0.6)")
    found = [dependency(table.sensitive, told) for told in (None, {"ill": ["none at all"], "job": ["none"]})]
    plan = ((0, 1), (2,))
    assert found[1].exposure(plan) < found[0].exposure(plan)
    assert len(tables["ill=none at all; job=none"]) <= len(tables[""])


def test_the_scheme_of_the_tables_has_options() -> None:
    table = people(80)
    release = dc.Codip(exposure=0.0, scheme="mondrian(loss=gcp, values=set)").publish(table, dc.BetaLikeness(2))
    told = [part.manifest["scheme"] for part in release.parts]
    assert told[0] == told[1] and told[0]["name"] == "mondrian"
    assert (told[0]["options"]["loss"], told[0]["options"]["values"]) == ("gcp", "set")
    audits(release, table, promises="beta-likeness(beta=2)")
    with pytest.raises(dc.DiscreetError, match="cuts has no parameter 'los'; did you mean 'loss'"):
        dc.Codip(scheme="cuts(los=gcp)").publish(table, dc.BetaLikeness(2))


# --------------------------------------------------------------------------------------------------- plans of the user


@pytest.mark.parametrize("aligned", [False, True])
@pytest.mark.parametrize("plan", ["home,ill|job", "job | ill | home", "home, job, ill"])
def test_a_plan_that_is_given_is_published_judged_and_audited(plan: str, aligned: bool) -> None:
    table = people(120, attributes=3)
    names = [column.name for column in table.sensitive]
    wanted = sorted(sorted(map(names.index, map(str.strip, part.split(",")))) for part in plan.split("|"))
    release = dc.Codip(plan=plan, aligned=aligned).publish(table, dc.LDiversity(1.5))
    assert [[names.index(each.name) for each in part.sensitive] for part in release.parts] == wanted
    options = release.manifest["scheme"]["options"]
    assert options["plan"] == " | ".join(", ".join(map(str.strip, part.split(","))) for part in plan.split("|"))
    assert not {"exposure", "association", "search", "steps"} & options.keys()
    losses = audits(release, table, promises="l-diversity(l=1.5)")[0].losses
    texts = [column.values[column.codes].tolist() for column in table.sensitive]
    assert losses["exposure"] == pytest.approx(naive.exposure(texts, [set()] * 3, wanted))
    assert losses["association_loss"] == pytest.approx(naive.association_loss(texts, wanted))


def test_another_plan_than_the_manifest_states_is_found(tmp_path: Path) -> None:
    table = people(120, attributes=3)
    release = dc.Codip(plan="ill, job | home").publish(table, dc.LDiversity(1.5))
    release.save(tmp_path / "r")
    path = tmp_path / "r" / "release.json"
    path.write_text(path.read_text().replace("ill, job | home", "ill | home, job"))
    audit = dc.audit(tmp_path / "r", table)
    assert [check.name for check in audit.checks if not check.holds] == ["plan"]


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ("ill | job", "leaves out 'home'; put every sensitive attribute into a table"),
        ("ill", "leaves out 'job' and 'home'"),
        ("ill, job | job, home", "names 'job' twice; put it into one table only"),
        ("ill | job | hom", "names 'hom', which is not a sensitive attribute; did you mean 'home'"),
        ("ill | job | home | age", "names 'age', which is not a sensitive attribute"),
        ("ill | | job, home", "lacks the name of an attribute; write names with commas"),
        ("ill, | job, home", "lacks the name of an attribute"),
        (" ", "lacks the name of an attribute"),
    ],
)
def test_a_plan_that_is_not_disjoint_and_complete_is_refused(plan: str, said: str) -> None:
    with pytest.raises(dc.DiscreetError, match=said) as fault:
        dc.Codip(plan=plan).publish(people(60, attributes=3), dc.LDiversity(1.5))
    assert fault.value.field == "plan"


@pytest.mark.parametrize("more", [{"exposure": 0.3}, {"association": 0.5}, {"search": "paper"}, {"steps": 5}])
def test_a_plan_leaves_nothing_to_search(more: dict[str, object]) -> None:
    with pytest.raises(dc.DiscreetError, match=r"says which tables there are, and .* leave out one of the two"):
        dc.Codip(plan="ill | job", **more)  # type: ignore[arg-type]


def test_a_plan_whose_tables_cannot_be_published_is_refused() -> None:
    with pytest.raises(
        dc.DiscreetError, match="the plan that was given cannot be published, as a table with 'ill' and"
    ):
        dc.Codip(plan="ill, job", scheme="lifting").publish(people(60), dc.BetaLikeness(2))


# --------------------------------------------------------------------------------------------------------- diminishing


def crossed() -> Table:
    """What is ill depends on the sex alone, and the job on the town alone."""
    codes = np.arange(64)
    sex, town = codes % 2, codes // 2 % 2
    columns = {"sex": sex, "town": town, "ill": sex * 2 + codes // 4 % 2, "job": town * 2 + codes // 8 % 2}
    data = {name: [f"{name}{value}" for value in values] for name, values in columns.items()}
    return dc.read(pa.table(data), quasi=["sex", "town"], sensitive=["ill", "job"])


@pytest.mark.parametrize(("t", "tables"), [(0.0, 2), (0.49, 2), (0.5, 1), (1.0, 1)])
def test_closeness_stops_merging(t: float, tables: int) -> None:
    """Either attribute alone is close in groups by the other quasi-identifier; for both, all rows must be one group.

    With groups of at most half of the rows, tables are merged only if closeness allows that. Exposure never forbids it.
    """
    table = crossed()
    for parts, best in (((0,), 0.0), ((1,), 0.0), ((0, 1), 0.5)):
        some = replace(table, sensitive=tuple(table.sensitive[at] for at in parts))
        halves = [tuple(np.flatnonzero(column.codes == code).tolist() for code in (0, 1)) for column in table.quasi]
        assert min(max(closeness(some, groups)) for groups in halves) == best
    most = 2 * 32**2
    scheme = dc.Codip(search="paper", exposure=1, scheme=f"incognito(most_discernibility={most})")
    release = scheme.publish(table, dc.TCloseness(t, "equal"))
    assert len(release.parts) == tables
    audits(release, table, promises=f"t-closeness(t={t}, distance=equal)")
