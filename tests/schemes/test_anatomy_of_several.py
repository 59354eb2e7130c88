"""Anatomy and Baseline with several sensitive attributes: each is counted by itself, in the same groups."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.kernels.exchange import exchange
from support.audits import audits
from support.several import lines, people


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scheme", "promise", "values"),
    [
        ("anatomy", "l-diversity(l=3)", (6, 5)),
        ("anatomy", "l-diversity(l=3)", (6, 5, 7)),
        ("anatomy", "l-diversity(l=2, attribute=s0) & l-diversity(l=4, attribute=s1)", (4, 9)),
        ("anatomy", "l-diversity(l=3, kind=distinct)", (4, 4)),
        ("anatomy", "alpha-beta(alpha=1, beta=0.34)", (6, 6)),
        ("baseline", "beta-likeness(beta=0.1)", (6, 5)),
        ("baseline", "t-closeness(t=0.1, attribute=s0) & l-diversity(l=2)", (6, 5)),
    ],
)
def test_files_keep_the_promise_about_each_attribute(
    tmp_path: Path, scheme: str, promise: str, values: tuple[int, ...]
) -> None:
    """By the files alone: every table counts the rows of every group, and no value more often than it may be."""
    table = people(90, values=values)
    release = dc.publish(table, promise, scheme)
    for found in audits(release, table):
        assert {kept.attribute for kept in found.promises} == {column.name for column in table.sensitive}
    release.save(tmp_path / "release")
    rows = Counter(line["group"] for line in lines(tmp_path / "release" / "table.csv"))
    assert sorted(path.name for path in (tmp_path / "release").iterdir()) == sorted(
        ["README.md", "release.json", "table.csv", *(f"sensitive_{at}.csv" for at in range(1, len(values) + 1))]
    )
    for at, column in enumerate(table.sensitive, 1):
        counts: dict[str, dict[str, int]] = defaultdict(dict)
        for line in lines(tmp_path / "release" / f"sensitive_{at}.csv"):
            counts[line["group"]][line[column.name]] = int(line["count"])
        assert {group: sum(held.values()) for group, held in counts.items()} == rows
        had = Counter(column.texts[code] for code in column.codes.tolist())
        assert sum((Counter(held) for held in counts.values()), Counter()) == had
        for held in counts.values():
            if "distinct" in promise:
                assert len(held) >= 3
            elif scheme == "anatomy":
                wanted = (
                    {"s0": 2, "s1": 4}[column.name] if "attribute" in promise else 3 if "l=" in promise else 1 / 0.34
                )
                assert max(held.values()) * wanted <= sum(held.values()) + 1e-9


def test_groups_are_as_small_as_for_one_attribute() -> None:
    """Rows of one bucket change places until no value repeats, so that groups need not be merged."""
    for values in ((6, 5), (6, 5, 7)):
        release = dc.publish(people(600, values=values), "l-diversity(l=3)", "anatomy")
        assert isinstance(release, dc.AnatomyRelease) and release.groups == 200


def test_values_that_leave_no_choice_still_keep_the_promise() -> None:
    """Every value has exactly a third of the rows: groups that no exchange mends are merged."""
    rng = np.random.default_rng(0)
    thirds = {name: rng.permutation(np.array(["x", "y", "z"])[np.arange(60) % 3]) for name in ("a", "b", "c")}
    table = dc.read(pa.table({"q": np.arange(60), **thirds}), quasi=["q"], sensitive=["a", "b", "c"])
    for found in audits(dc.publish(table, "l-diversity(l=3)", "anatomy"), table):
        assert found.holds


def test_exchanges_keep_the_values_of_the_first_attribute_and_repeat_fewer_of_the_others() -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        number, size = int(rng.integers(2, 30)), int(rng.integers(2, 5))
        groups = np.repeat(np.arange(number, dtype=np.int32), size)
        kinds = np.tile(np.arange(size, dtype=np.int32), number)
        others = rng.integers(0, size + 2, (2, number * size)).astype(np.int32)

        def repeated(of: np.ndarray, others: np.ndarray = others) -> int:
            return sum(
                max(0, many - 1)
                for line in others
                for many in Counter(zip(of.tolist(), line.tolist(), strict=True)).values()
            )

        changed = groups.copy()
        exchange(changed, number, kinds, others, np.ones((2, number), np.int64), rng.random(512))
        assert Counter(zip(changed.tolist(), kinds.tolist(), strict=True)) == Counter(
            zip(groups.tolist(), kinds.tolist(), strict=True)
        )
        assert repeated(changed) <= repeated(groups)


def test_estimates_take_attributes_to_be_independent_within_groups() -> None:
    table = people(120)
    release = dc.publish(table, "l-diversity(l=3)", "anatomy")
    assert isinstance(release, dc.AnatomyRelease)
    first, second = release.counted
    share = first.counts.matrix()[:, 1] / release.sizes * second.counts.matrix()[:, 2] / release.sizes
    young = np.asarray(release.exact[0].values)[release.exact[0].codes] <= 40
    expected = share[release.group_of[young]].sum()
    texts = [f"s0 = '{first.values[1]}'", f"s1 = '{second.values[2]}'", "age <= 40"]
    asked = f"SELECT COUNT(*) FROM t WHERE {' AND '.join(texts)}"
    assert release.estimate(asked) == pytest.approx(expected)
    (note,) = release.notes_on(["age", "s1", "s0"])
    assert note.startswith("'s0' and 's1' are counted in different tables")
    assert release.notes_on(["age", "s1"]) == ()
    alone = [release.estimate(f"SELECT COUNT(*) FROM t WHERE s1 = '{value}'") for value in second.values]
    assert alone == pytest.approx(second.counts.matrix().sum(axis=0).tolist())
    with pytest.raises(dc.DiscreetError, match="there is no column 's2' in the release"):
        release.estimate("SELECT COUNT(*) FROM t WHERE s2 = 'v1'")


@pytest.mark.slow
def test_what_is_refused_leads_to_a_scheme_that_keeps_it() -> None:
    table = people(60)
    for scheme, promise, way in (
        ("anatomy", "beta-likeness(beta=2)", "cuts"),
        ("anatomy", "l-diversity(l=2, attribute=s0) & t-closeness(t=0.3, attribute=s1)", "cuts"),
        ("anatomy", "alpha-beta(alpha=0.5, beta=0.5)", "ambiguity"),
        ("baseline", "k-anonymity(k=3) & l-diversity(l=2)", "cuts"),
    ):
        with pytest.raises(dc.DiscreetError, match=f"choose scheme '{way}'"):
            dc.publish(table, promise, scheme)
        for found in audits(dc.publish(table, promise, way), table):
            assert found.holds
    with pytest.raises(dc.DiscreetError, match="nothing is promised about the values of the sensitive attribute 's1'"):
        dc.publish(table, "l-diversity(l=2, attribute=s0)", "anatomy")


def test_lines_in_the_order_of_the_second_attribute_are_found(tmp_path: Path) -> None:
    """Where quasi-identifiers tell the persons apart, lines sorted by any sensitive value tell that value."""
    rng = np.random.default_rng(2)
    columns = {"age": rng.permutation(200), **{name: rng.choice(list("uvwxyz"), 200) for name in ("a", "b")}}
    table = dc.read(pa.table(columns), quasi=["age"], sensitive=["a", "b"])
    release = dc.publish(table, "l-diversity(l=2)", "anatomy")
    home = release.save(tmp_path / "release")
    sensitive_attribute = dict(zip(columns["age"].tolist(), columns["b"].tolist(), strict=True))
    head, *rest = (home / "table.csv").read_text().splitlines(keepends=True)
    rest.sort(key=lambda line: sensitive_attribute[int(line.strip().split(",")[1])])
    (home / "table.csv").write_text(head + "".join(rest))
    for trace in (None, release.trace):
        assert "order" in {check.name for check in dc.audit(home, table, trace=trace).checks if not check.holds}


def test_the_graph_of_heterogeneous_is_refused_at_once() -> None:
    """Its rows are matched by one attribute, so it was once found to break what was promised about another."""
    told = r"if it publishes the graph, and the table has several \(s0, s1\); publish the best bucket instead"
    with pytest.raises(dc.DiscreetError, match=told):
        dc.publish(people(60), "l-diversity(l=2)", dc.Heterogeneous(publishes="graph"))
