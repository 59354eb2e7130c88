"""Workloads of a given dimensionality and volume, and ranges on numeric sensitive values in every format."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.analyst.workload import run, volume_workload
from discreet.command.main import main
from discreet.datasets import census, census_arrow, patients
from discreet.errors import DiscreetError
from discreet.releases import AnatomyRelease, GeneralizedRelease, PerturbedRelease
from discreet.releases.bit_counts import exact_counts
from discreet.table.query import OneOf, Query, Range
from discreet.table.read import read
from discreet.table.table import Table
from discreet.table.write import write_table
from naive import anatomy as naive_anatomy
from naive import estimates as naive_estimates
from naive import perturbation as naive_perturbation

# ----------------------------------------------------------------------------------------------------------- workloads


@pytest.mark.parametrize("w", [1, 2, 3, 4])
@pytest.mark.parametrize("s", [0.01, 0.1, 0.2, 1.0])
def test_ranges_have_the_length_that_the_paper_gives_them(w: int, s: float) -> None:
    table = census(200, quasi=("age", "education", "gender"), sensitive="income")
    seen: dict[str, int] = {}
    for query in volume_workload(table, dimensionality=w, volume=s, number=300):
        *others, last = query.conditions
        assert len(others) == w - 1 and last.attribute == "income"
        assert len({one.attribute for one in others}) == w - 1
        for one in query.conditions:
            column = table.column(one.attribute)
            seen[one.attribute] = seen.get(one.attribute, 0) + 1
            if isinstance(one, OneOf):
                values, size = len(one.values), len(column.values)
            else:
                assert column.domain is not None
                low, high = (int(end) for end in column.domain)
                assert low <= float(one.low or 0) <= float(one.high or 0) <= high
                values, size = int(float(one.high or 0) - float(one.low or 0)) + 1, high - low + 1
            assert values == max(1, math.floor(size * s ** (1 / w) + 1e-9))
    assert seen["income"] == 300
    if w > 1:  # every quasi-identifier has its turn
        assert min(seen[name] for name in table.quasi_names) > 300 * (w - 1) / 3 * 0.7


def test_a_length_that_is_whole_is_not_rounded_down_by_accident() -> None:
    """1000^(1/3) x 0.001^(1/3) is 1 but for rounding, and so on: 0.1 is the cube root of 0.001."""
    pay = np.arange(10.0, 1010.0, 10.0)
    table = read(pa.table({"a": np.arange(100), "b": np.arange(100), "pay": pay}), quasi=["a", "b"], sensitive="pay")
    for query in volume_workload(table, dimensionality=3, volume=0.001, number=50):
        for one in query.conditions[:2]:
            assert isinstance(one, Range) and int(one.high) - int(one.low) + 1 == 10  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_volume_is_the_share_selected_where_values_are_uniform() -> None:
    """Within 5 %, with these seeds and numbers."""
    rng = np.random.default_rng(3)
    columns = {name: rng.integers(0, 1000, 20_000) for name in ("a", "b", "pay")}
    table = read(pa.table(columns), quasi=["a", "b"], sensitive="pay")
    for w in (1, 2, 3):
        mean = exact_counts(table, volume_workload(table, dimensionality=w, number=2000, seed=2)).mean() / table.rows
        assert mean == pytest.approx(0.1, rel=0.05)


def test_lengths_without_single_values_are_not_rounded() -> None:
    numbers = {"size": [0.25, 4 / 3, 3.75], "pay": [0.5, 4 / 3, 10.5]}
    table = read(pa.table(numbers), quasi=["size"], sensitive="pay")
    for query in volume_workload(table, dimensionality=2, volume=0.04, number=20):
        lengths = [float(one.high or 0) - float(one.low or 0) for one in query.conditions if isinstance(one, Range)]
        assert lengths == pytest.approx([3.5 * 0.2, 10.0 * 0.2])


def test_lengths_of_decimals_count_their_steps() -> None:
    table = read(pa.table({"size": [0.5, 1.5, 10.4], "pay": [0, 1, 9]}), quasi=["size"], sensitive="pay")
    for query in volume_workload(table, dimensionality=2, volume=0.04, number=20):
        size = next(one for one in query.conditions if one.attribute == "size")
        assert (
            isinstance(size, Range)
            and size.low == round(float(size.low), 1)
            and size.high == round(float(size.high), 1)
        )
        assert round(float(size.high) - float(size.low), 9) == 1.9  # 20 of 100 numbers


def test_seeds_and_defaults() -> None:
    table = census(100, sensitive="income")
    assert volume_workload(table) == volume_workload(table)
    assert volume_workload(table, seed=1) != volume_workload(table)
    assert len(volume_workload(table)) == 1000
    assert len(volume_workload(table, number=1)[0].conditions) == 4
    assert len(volume_workload(census(50, quasi=("age",)), number=1)[0].conditions) == 2


def test_volumes_that_cannot_be_are_refused() -> None:
    table = patients()
    for options, said in (
        ({"dimensionality": 5}, "cannot have 5 dimensions: this table has 3 quasi-identifiers"),
        ({"dimensionality": 0}, "choose from 1 to 4"),
        ({"volume": 0.0}, "above 0"),
        ({"volume": 1.5}, "at most 1"),
        ({"number": 0}, "at least one query"),
    ):
        with pytest.raises(DiscreetError, match=said):
            volume_workload(table, **options)  # type: ignore[arg-type]
    with pytest.raises(DiscreetError, match="no sensitive attribute"):
        volume_workload(Table(table.rows, table.quasi, None))


# -------------------------------------------------------------------------------------- ranges on the sensitive value


def incomes(rows: int = 150) -> Table:
    """Few different incomes with gaps between them, so that ranges end between values and at them."""
    rng = np.random.default_rng(7)
    columns = {
        "age": rng.integers(20, 60, rows),
        "sex": rng.choice(["f", "m"], rows),
        "pay": rng.choice([-500, 0, 0, 1000, 1200, 5000, 20000], rows),
    }
    return read(pa.table(columns), quasi=["age", "sex"], sensitive="pay")


def asked(table: Table) -> list[Query]:
    queries = [
        *volume_workload(table, dimensionality=2, volume=0.1, number=30),
        *volume_workload(table, dimensionality=3, volume=0.2, number=30),
        *volume_workload(table, dimensionality=1, volume=0.05, number=30),
    ]
    edges = [Range("pay", 0, 1000), Range("pay", 1, 999), Range("pay", -500, -500), Range("pay", 1200), Range("pay")]
    return queries + [Query((Range("age", 25, 44), edge)) for edge in edges]


@pytest.mark.slow
@pytest.mark.parametrize(
    "scheme", [dc.Cuts(), dc.SplitAndPartition(), dc.SplitAndPartition(partition="round-robin", positions=1)]
)
def test_generalized_releases_answer_ranges_on_numbers(scheme: dc.Scheme, tmp_path: Path) -> None:
    table = incomes()
    promise = dc.Proximity(100, 2) if isinstance(scheme, dc.SplitAndPartition) else dc.KAnonymity(5)
    release = dc.publish(table, promise, scheme)
    assert isinstance(release, GeneralizedRelease)
    release.save(tmp_path / "release")
    queries = asked(table)
    expected = [naive_estimates.estimate(tmp_path / "release", query) for query in queries]
    np.testing.assert_allclose(dc.load(tmp_path / "release").estimates(queries, "even"), expected, rtol=1e-9, atol=1e-9)
    # ranges on the sensitive value alone are exact: it is published as it is
    alone = [query for query in queries if len(query.conditions) == 1]
    assert len(alone) == 30
    np.testing.assert_allclose(release.estimates(alone), exact_counts(table, alone))


def test_anatomy_answers_ranges_on_numbers() -> None:
    table = incomes()
    release = dc.publish(table, dc.LDiversity(2), dc.Anatomy(random_state=1))
    assert isinstance(release, AnatomyRelease)
    ages, sexes = (exact_column.values[exact_column.codes].tolist() for exact_column in release.exact)
    rows = list(zip(zip(ages, sexes, strict=True), release.group_of.tolist(), strict=True))
    counts = release.counts.matrix().tolist()
    numbers = [float(value) for value in release.values]
    queries = asked(table)
    for query, found in zip(queries, release.estimates(queries).tolist(), strict=True):

        def keep(own: tuple[float, str], query: Query = query) -> bool:
            values = {"age": own[0], "sex": own[1]}
            return all(_admits(one, values[one.attribute]) for one in query.conditions if one.attribute in values)

        wanted = [all(_admits(one, n) for one in query.conditions if one.attribute == "pay") for n in numbers]
        assert found == pytest.approx(float(naive_anatomy.expected(rows, counts, keep, wanted)))


def test_perturbed_releases_answer_ranges_on_numbers() -> None:
    table = incomes()
    release = dc.publish(table, dc.BetaLikeness(4), dc.Perturbation(random_state=1))
    assert isinstance(release, PerturbedRelease)
    queries = asked(table)
    found = release.estimates(queries, "controlled-inverse")
    cells = release.matrix.cells
    # what chance did to the whole table is known, and each query is given its share of it back
    luck = np.array(naive_perturbation.published_counts(release, Query(()))[0]) - cells @ release.prior
    for query, estimate in zip(queries, found.tolist(), strict=True):
        counts, wanted = naive_perturbation.published_counts(release, query)
        original = np.linalg.solve(cells, np.array(counts) - sum(counts) / table.rows * luck)
        assert estimate == pytest.approx(float(original[np.array(wanted)].sum()), abs=1e-6)


def _admits(condition: Range | OneOf, value: float | str) -> bool:
    if isinstance(condition, OneOf):
        return str(value) in condition.values
    low, high = condition.low, condition.high
    return (low is None or float(value) >= float(low)) and (high is None or float(value) <= float(high))


def test_tighter_promises_answer_worse() -> None:
    table = census(1_000, quasi=("age", "education", "country"), sensitive="income")
    queries = volume_workload(table, dimensionality=3, number=400)
    errors = [run(dc.publish(table, dc.Proximity(500, m)), table, queries).median for m in (1, 2, 6)]
    assert errors[0] < errors[1] < errors[2]


# -------------------------------------------------------------------------------------------------------- the command


@pytest.mark.slow
def test_compare_by_volume(tmp_path: Path) -> None:
    source = tmp_path / "census.csv"
    write_table(census_arrow(400), source)
    words = ["compare", str(source), "--quasi", "age,education", "--sensitive", "income", "--queries", "50"]
    words += ["--promise", "proximity(epsilon=100, m=3)", "--schemes", "proximity"]
    told = CliRunner().invoke(main, [*words, "--volume", "0.2"])
    assert told.exit_code == 0, told.output
    assert "on 2 of 2 quasi-identifiers and on 'income', with a volume of 20.0 %" in " ".join(told.stdout.split())
    both = CliRunner().invoke(main, [*words, "--volume", "0.2", "--selectivity", "0.1"])
    assert both.exit_code == 2 and "a selectivity or a volume, not both" in both.stderr
    large = CliRunner().invoke(main, [*words, "--volume", "2"])
    assert large.exit_code == 2 and "the volume of a query must be above 0" in large.stderr
    page = dc.compare(census(300, quasi=("age",), sensitive="income"), "k-anonymity(k=3)", ["cuts"], volume=0.05).page()
    assert "one on the sensitive attribute, with a volume of 5.0 %; the same" in page


def test_ranges_on_numbers_too_far_apart_for_a_difference() -> None:
    pay = [-1.7e308, -1e300, 0.5, 1e308, 1.7e308]
    table = dc.read(pa.table({"age": [1, 2, 3, 4, 5], "pay": pay}), quasi=["age"], sensitive="pay")
    queries = volume_workload(table, dimensionality=1, volume=0.5, number=200)
    ranges = [one for query in queries for one in query.conditions if isinstance(one, Range)]
    assert len(ranges) == 200
    for one in ranges:
        assert one.low is not None and one.high is not None and -1.7e308 <= one.low < one.high <= 1.7e308
        assert one.high / 2 - one.low / 2 == pytest.approx(0.85e308)
    assert 0 < min(exact_counts(table, queries)) < max(exact_counts(table, queries))
