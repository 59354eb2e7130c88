"""Perturbation: its matrix, its release, its estimators and its audit."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dc
from discreet.adversary.audit import Audit, audit
from discreet.datasets import census, patients
from discreet.families.randomised.release.matrix import Matrix
from discreet.families.randomised.release.perturbed import PerturbedRelease
from discreet.families.randomised.release.reconstruct import reconstruct
from discreet.families.randomised.scheme.matrix import closed_form, even, exact, variance
from discreet.families.randomised.scheme.perturbation import Choice, Perturbation, draw
from discreet.principles import BetaLikeness, Prior
from discreet.releases import folder as files
from discreet.schemes import make_scheme
from discreet.table.query import OneOf, Query, Range
from discreet.table.table import Table
from naive import perturbation as naive
from support.releases import perturbed
from support.tables import tables

SKEWED = np.array([5, 25, 70])
"""The distribution for which Theorem 3 fails."""


def prior_of(counts: object) -> Prior:
    counts = np.asarray(counts)
    return Prior(counts, tuple(f"v{i}" for i in range(len(counts))))


def bounds(counts: object, promise: BetaLikeness) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    prior = prior_of(counts)
    caps = promise.caps(prior)
    assert caps is not None
    return prior.frequencies, caps, promise.floors(prior)


def loaded(folder: Path) -> PerturbedRelease:
    return PerturbedRelease.load(*files.read_manifest(folder)[:2])


def audited(folder: Path, original: Table, **more: object) -> Audit:
    return audit(folder, original, **more)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------------ matrix


def test_theorem_3_on_a_valid_distribution() -> None:
    # p = 1/4 each and beta = 1: f = 1/2, gamma = 2 * (3/4) / (1/2) = 3, C = 1 / (3 + 3), alpha = (4 * 3 / 6 - 1) / 3
    p, caps, _ = bounds([5, 5, 5, 5], BetaLikeness(1))
    alphas = closed_form(p, caps)
    assert alphas == pytest.approx([1 / 3] * 4)
    cells = naive.matrix_of(alphas)
    assert cells[0] == pytest.approx([1 / 2, 1 / 6, 1 / 6, 1 / 6])
    assert cells[0, 0] * p[0] / (cells[0] @ p) == pytest.approx(1 / 2)  # the bound itself
    assert exact(p, caps) == pytest.approx(alphas)
    assert even(p, caps) == pytest.approx(alphas)


def test_theorem_3_fails_for_a_skewed_distribution_and_the_program_repairs_it() -> None:
    promise = BetaLikeness(1)
    p, caps, _ = bounds(SKEWED, promise)
    alphas = closed_form(p, caps)
    assert alphas.min() == pytest.approx(-0.186, abs=5e-4)
    joint = naive.matrix_of(alphas) * p
    beliefs = joint / joint.sum(axis=1, keepdims=True)
    assert (beliefs - caps).max() == pytest.approx(0.024, abs=5e-4)
    with pytest.raises(dc.DiscreetError, match="matrix=exact"):
        Perturbation(matrix="closed-form").find(promise, prior_of(SKEWED))
    for kind in ("exact", "even"):
        matrix = Perturbation(matrix=kind).find(promise, prior_of(SKEWED))  # type: ignore[arg-type]
        told = naive.beliefs(matrix.texts(), SKEWED.tolist())
        assert all(belief <= Fraction(cap) for line in told for belief, cap in zip(line, caps.tolist(), strict=True))
        assert (np.diagonal(matrix.cells) > 1 / 3 + 0.08).all()
    assert even(p, caps) == pytest.approx([10 / 37] * 3)


priors = st.integers(1, 12).flatmap(
    lambda m: st.one_of(
        st.lists(st.integers(1, 50), min_size=m, max_size=m),
        st.lists(st.integers(0, 17).map(lambda power: 2**power), min_size=m, max_size=m),
        st.integers(1, 1000).map(lambda count: [count] * m),
    )
)


@pytest.mark.slow
@given(
    priors,
    st.floats(0.0, 8.0, exclude_min=True),
    st.sampled_from(["enhanced", "basic"]),
    st.sampled_from([None, None, 1.0, 0.5, 0.05, 0.0]),
    st.sampled_from(["exact", "even"]),
)
@settings(max_examples=200)
def test_every_matrix_keeps_the_bounds(
    counts: list[int], beta: float, variant: str, negative: float | None, kind: str
) -> None:
    promise = BetaLikeness(beta, variant, negative)
    prior = prior_of(counts)
    matrix = Perturbation(matrix=kind).find(promise, prior)  # type: ignore[arg-type]
    texts = matrix.texts()
    assert all(sum(Fraction(line[i]) for line in texts) == 1 for i in range(len(counts)))
    assert all(0 <= Fraction(text) <= 1 for line in texts for text in line)
    _, caps, floors = bounds(counts, promise)
    tolerance = Fraction(1, 10**12)
    for line in naive.beliefs(texts, counts):
        for i, belief in enumerate(line):
            assert belief <= Fraction(caps[i]) * (1 + tolerance)
            assert floors is None or belief >= Fraction(floors[i]) * (1 - tolerance)


@pytest.mark.slow
@given(priors, st.floats(0.05, 8.0), st.sampled_from(["enhanced", "basic"]), st.sampled_from([None, 0.5, 0.1]))
@settings(max_examples=60)
def test_the_program_agrees_with_the_one_that_has_all_constraints(
    counts: list[int], beta: float, variant: str, negative: float | None
) -> None:
    p, caps, floors = bounds(counts, BetaLikeness(beta, variant, negative))
    m = len(p)
    alphas = even(p, caps, floors)
    if m > 1:
        assert alphas.min() == pytest.approx(naive.smallest_alpha(p, caps, floors), rel=1e-5, abs=1e-8)
    if floors is None and m > 1:
        with np.errstate(divide="ignore"):
            alike = np.min((caps - p) / (p * (m - 1) + caps * (1.0 - m * p)))
        assert alphas == pytest.approx(np.full(m, min(1.0, alike)), rel=1e-5, abs=1e-8)


@pytest.mark.slow
@given(priors, st.floats(0.05, 8.0))
@settings(max_examples=60)
def test_the_program_is_never_worse_than_the_closed_form(counts: list[int], beta: float) -> None:
    p, caps, _ = bounds(counts, BetaLikeness(beta))
    alphas = closed_form(p, caps)
    if alphas.min() <= 0.0:
        return
    assert even(p, caps).min() >= alphas.min() * (1 - 1e-7)
    assert variance(p, exact(p, caps)) <= variance(p, alphas) * (1 + 1e-6)
    assert variance(p, exact(p, caps)) <= variance(p, even(p, caps)) * (1 + 1e-6)
    # and where the closed form gives probabilities, it keeps the promise
    matrix = Perturbation(matrix="closed-form").find(BetaLikeness(beta), prior_of(counts))
    assert matrix.worst(np.array(counts), caps).broken == 0


def test_variance_is_that_of_the_inverse() -> None:
    p, alphas = np.array([0.1, 0.3, 0.6]), np.array([0.2, 0.5, 0.4])
    cells = naive.matrix_of(alphas)
    back, seen = np.linalg.inv(cells), cells @ p
    cov = back @ (np.diag(seen) - np.outer(seen, seen)) @ back.T
    assert variance(p, alphas) == pytest.approx(np.trace(cov))


def test_what_is_printed_is_exact() -> None:
    matrix = Perturbation().find(BetaLikeness(2), prior_of([1, 7, 500, 3]))
    assert Matrix.from_texts(matrix.texts()).units.tolist() == matrix.units.tolist()
    # as numbers the cells are the same decimals
    assert [[Fraction(repr(float(text))) for text in line] for line in matrix.texts()] == [
        [Fraction(text) for text in line] for line in matrix.texts()
    ]
    for text in ("nan", "-0.1", "1.2", "", "0,5", "1e5", "one"):
        if text == "1.2":
            assert not Matrix.from_texts([[text]]).stochastic
            continue
        with pytest.raises(dc.DiscreetError, match="no probability"):
            Matrix.from_texts([[text]])


def test_a_bound_is_decided_exactly() -> None:
    # beliefs 3/4 and 1/4, at the bound and a hair above it
    matrix = Matrix.from_texts([["0.75", "0.25"], ["0.25", "0.75"]])
    half = np.array([1, 1])
    assert matrix.worst(half, np.array([0.75, 0.75]), None, Fraction(0)).broken == 0
    assert matrix.worst(half, np.array([0.75, np.nextafter(0.75, 0.0)]), None, Fraction(0)).broken == 1
    assert matrix.worst(half, None, np.array([0.25, np.nextafter(0.25, 1.0)]), Fraction(0)).broken == 1


@given(st.integers(2, 6), st.integers(0, 2**30))
@settings(max_examples=10)
def test_values_are_drawn_as_the_matrix_says(m: int, seed: int) -> None:
    """By Bernstein's inequality each of at most 720 counts is off by more once in 10^9 times, any once in a million."""
    rng = np.random.default_rng([seed, 1])
    counts = rng.integers(1, 100, m)
    matrix = Perturbation().find(BetaLikeness(3), prior_of(counts))
    for seeded in (np.random.default_rng([seed, 2]), None):
        for i in range(m):
            n = 20_000
            counts = np.bincount(draw(matrix, np.full(n, i, np.int32), seeded), minlength=m)
            variance_of, level = n * matrix.cells[:, i] * (1 - matrix.cells[:, i]), np.log(2e9)
            off = level / 3 + np.sqrt(level**2 / 9 + 2 * level * variance_of)
            assert (np.abs(counts - n * matrix.cells[:, i]) <= np.where(variance_of > 0, off, 1e-6)).all()


# ----------------------------------------------------------------------------------------------------------- release


@pytest.mark.slow
@given(tables(missing=True), st.floats(0.01, 8.0), st.sampled_from(["csv", "parquet"]), st.booleans())
@settings(max_examples=60)
def test_every_release_passes_its_audit(
    tmp_path_factory: pytest.TempPathFactory, table: Table, beta: float, form: str, traced: bool
) -> None:
    try:
        release = Perturbation(random_state=7).publish(table, BetaLikeness(beta))
    except dc.DiscreetError as refusal:
        assert table.unusable is not None, str(refusal)
        return
    folder = tmp_path_factory.mktemp("release") / "r"
    release.save(folder, form)  # type: ignore[arg-type]
    found = audited(folder, table, **({"trace": release.trace} if traced else {}))
    assert found.holds, found.sentences()
    again = loaded(folder)
    assert again.matrix.units.tolist() == release.matrix.units.tolist()
    assert again.prior.tolist() == release.prior.tolist()
    assert again.texts == release.texts
    assert again.shown.codes.tolist() == release.shown.codes.tolist()
    queries = [Query((OneOf("disease", ("d0",)),)), Query((OneOf("disease", ("d1", "d2")), *_half(table)))]
    assert again.estimates(queries) == pytest.approx(release.estimates(queries))


def _half(table: Table) -> tuple[Range | OneOf, ...]:
    column = table.quasi[0]
    middle = column.values[len(column.values) // 2]
    if column.kind == "numeric":
        return () if middle != middle else (Range(column.name, float(middle)),)
    return (OneOf(column.name, (str(middle),)),)


def people(rows: int = 400, seed: int = 3) -> Table:
    """A table with a numeric, a categorical and an ordinal column, some numbers missing."""
    rng = np.random.default_rng([seed, 99])
    age = rng.integers(20, 60, rows)
    return dc.read(
        pa.table(
            {
                "age": pa.array(age, mask=rng.random(rows) < 0.05),
                "sex": rng.choice(["f", "m"], rows),
                "grade": rng.choice(["low", "mid", "high"], rows),
                "pay": pa.array((age // 10) * 100 + rng.choice([0, 0, 50], rows), mask=rng.random(rows) < 0.1),
                "note": rng.choice(["x", "y"], rows),
            }
        ),
        quasi=["age", "sex", "grade"],
        sensitive="pay",
        keep=["note"],
        ordinal=["grade"],
        missing="value",
    )


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_release_is_what_it_was_after_saving_and_loading(tmp_path: Path, form: str) -> None:
    table = people()
    release = Perturbation().publish(table, BetaLikeness(2))
    release.save(tmp_path / "r", form)  # type: ignore[arg-type]
    names = {path.name for path in (tmp_path / "r").iterdir()}
    assert names == {"README.md", "release.json", *(f"{name}.{form}" for name in ("table", "matrix", "prior"))}
    again = loaded(tmp_path / "r")
    assert not again.faults
    for one, two in zip((*release.exact, *release.others), (*again.exact, *again.others), strict=True):
        shown = [[of.values[code] for code in of.codes] for of in (one, two)]
        assert str(shown[0]) == str(shown[1])
    points = {column.name: column.values[column.codes] for column in table.quasi}
    assert again.beliefs(points) == pytest.approx(release.beliefs(points))
    manifest = json.loads((tmp_path / "r" / "release.json").read_text())
    assert manifest["format"] == "perturbed"
    assert "experimental_seed" not in manifest
    assert any("can tell that the person is in the table" in sentence for sentence in manifest["assumptions"])
    assert audited(tmp_path / "r", table).holds


def test_the_files_are_as_designed(tmp_path: Path) -> None:
    table = dc.read(pa.table({"age": [30, 31, 32, 33, 34, 35], "s": list("aabbbb")}), quasi=["age"], sensitive="s")
    Perturbation().publish(table, BetaLikeness(1)).save(tmp_path / "r")
    with (tmp_path / "r" / "matrix.csv").open() as file:
        lines = list(csv.reader(file))
    assert lines[0] == ["published", "a", "b"]
    assert [line[0] for line in lines[1:]] == ["a", "b"]
    for column in (1, 2):
        assert sum(Fraction(line[column]) for line in lines[1:]) == 1
    assert (tmp_path / "r" / "prior.csv").read_text() == "value,count\na,2\nb,4\n"
    assert (tmp_path / "r" / "table.csv").read_text().startswith("age,s_randomised\n")


def test_values_that_do_not_occur_are_never_drawn(tmp_path: Path) -> None:
    table = patients()
    assert table.sensitive_attribute is not None
    used = table.prior_counts > 0
    fewer = dc.read(
        pa.table({"age": [1, 2, 3, 4], "s": ["a", "b", "a", "b"]}),
        quasi=["age"],
        sensitive="s",
        hierarchies={"s": {"x": ["a", "b", "c"], "y": ["d"]}},
    )
    release = Perturbation().publish(fewer, BetaLikeness(1))
    assert release.texts == ["a", "b"]
    release.save(tmp_path / "r")
    assert audited(tmp_path / "r", fewer).holds
    assert len(Perturbation().publish(table, BetaLikeness(2)).texts) == used.sum()


def test_small_and_strange_tables(tmp_path: Path) -> None:
    one = dc.read(pa.table({"age": [1, 2, 3], "s": ["a"] * 3}), quasi=["age"], sensitive="s")
    release = Perturbation().publish(one, BetaLikeness(1))
    assert release.matrix.texts() == [["1"]]
    assert release.estimates([Query((OneOf("s", ("a",)), Range("age", 2)))]).tolist() == [2.0]
    single = dc.read(pa.table({"age": [1], "s": ["a"]}), quasi=["age"], sensitive="s")
    assert Perturbation().publish(single, BetaLikeness(1)).rows == 1
    rare = dc.read(pa.table({"age": range(1000), "s": ["hiv"] + ["flu"] * 999}), quasi=["age"], sensitive="s")
    release = Perturbation().publish(rare, BetaLikeness(1))
    assert release.matrix.posteriors(release.prior)[:, release.texts.index("hiv")].max() <= 0.002 * (1 + 1e-12)
    release.save(tmp_path / "r")
    assert audited(tmp_path / "r", rare).holds
    # a bound that nothing but the prior keeps
    told = Perturbation().publish(people(), BetaLikeness(1, negative=0.0))
    assert told.matrix.posteriors(told.prior)[0] == pytest.approx(told.prior / told.prior.sum(), rel=1e-9)
    with pytest.raises(dc.DiscreetError, match="choose the estimator ridge"):
        told.estimates([Query((OneOf("pay", (200,)),))], "inverse")
    share = told.prior[told.texts.index("200")]
    assert told.estimates([Query((OneOf("pay", (200,)),))]) == pytest.approx([share], rel=1e-6)
    # a value that is called like the first column of the matrix
    odd = dc.read(pa.table({"group": [1, 2], "count": ["published", "value"]}), quasi=["group"], sensitive="count")
    Perturbation().publish(odd, BetaLikeness(1)).save(tmp_path / "odd", "parquet")
    assert audited(tmp_path / "odd", odd).holds


def test_other_promises_are_refused() -> None:
    table = patients()
    for promise in ("k-anonymity(k=2)", "t-closeness(t=0.2)", "l-diversity(l=2)"):
        with pytest.raises(dc.DiscreetError, match="choose scheme 'cuts'"):
            Perturbation().publish(table, dc.parse(promise))
    with pytest.raises(dc.DiscreetError, match="matrix must be exact, even or closed-form, not 'best'; correct"):
        Perturbation(matrix="best")  # type: ignore[arg-type]
    both = dc.parse("beta-likeness(beta=2) & beta-likeness(beta=4, variant=basic)")
    assert Perturbation().publish(table, both).rows == table.rows


def test_chance_does_not_follow_other_uses_of_a_seed() -> None:
    # a table made with the seed of the release must be randomised as any other; by Hoeffding's inequality a share of
    # 20,000 rows is off by 0.02 with probability 2 exp(-16), so that three of them are once in a million runs
    for seed in range(3):
        rng = np.random.default_rng(seed)
        values = rng.integers(0, 10**15, 20_000) // (10**15 // 4)
        release = make_scheme("perturbation", {}, seed).publish(
            dc.read(pa.table({"q": range(20_000), "s": values}), quasi=["q"], sensitive="s", categorical=["s"]),
            BetaLikeness(1),
        )
        assert isinstance(release, PerturbedRelease) and release.trace is not None
        assert release.manifest["experimental_seed"] is True
        kept = (release.shown.codes[release.trace] == values).mean()
        assert kept == pytest.approx(release.retention, abs=0.02)


# ------------------------------------------------------------------------------------------------- beliefs, estimates


def test_beliefs_follow_from_the_published_value() -> None:
    table = dc.read(pa.table({"age": [30, 31, 31, 32], "s": ["a", "a", "b", "b"]}), quasi=["age"], sensitive="s")
    release = Perturbation().publish(table, BetaLikeness(1))
    told = release.matrix.posteriors(release.prior)
    seen = dict(zip(release.exact[0].values[release.exact[0].codes], release.shown.codes, strict=True))
    found = release.beliefs({"age": [30, 31, 32, 99]}, withheld=[1, 3])
    assert found[0] == pytest.approx(told[seen[30.0]])
    rows = np.flatnonzero(release.exact[0].values[release.exact[0].codes] == 31)
    assert found[1] == pytest.approx(told[release.shown.codes[rows]].mean(axis=0))
    assert found[3] == pytest.approx([0.25, 0.75])
    assert np.isnan(release.beliefs({"age": [99]})).all()
    with pytest.raises(dc.DiscreetError, match="'age'"):
        release.beliefs({"sex": ["f"]})


QUERIES = [
    Query(),
    Query((Range("age", 30, 40), OneOf("pay", (300, 350)))),
    Query((OneOf("sex", ("f",)), Range("pay", high=300))),
    Query((OneOf("grade", ("low", "high")), OneOf("note", ("x",)), OneOf("pay", (250,)))),
    Query((Range("age", 30, 40), Range("age", 35, 50))),
    Query((Range("age", 90), OneOf("pay", (300,)))),
]


def test_counts_are_those_of_a_row_by_row_count() -> None:
    release = Perturbation().publish(people(), BetaLikeness(2))
    for query in QUERIES:
        counts, wanted = naive.published_counts(release, query)
        told = np.ones(release.matrix.width, np.bool_)
        assert release.tally.counts(release._asked(query, told))[: len(told)].tolist() == counts
        assert told.tolist() == wanted
    exact_ones = [0, 4]
    found = release.estimates(QUERIES)
    assert found[exact_ones].tolist() == [sum(naive.published_counts(release, QUERIES[at])[0]) for at in exact_ones]
    assert found[5] == 0.0
    with pytest.raises(dc.DiscreetError, match="'agee'"):
        release.estimates([Query((Range("agee", 1),))])
    with pytest.raises(dc.DiscreetError, match="no order"):
        release.estimates([Query((Range("sex", "a", "b"),))])
    with pytest.raises(
        dc.DiscreetError, match=r"has no estimator 'best'; it has ridge .*, em .*, controlled-inverse .* and inverse"
    ):
        release.estimates(QUERIES, "best")


@pytest.mark.parametrize("estimator", ["controlled-inverse", "em", "ridge"])
def test_estimates_over_all_rows_are_the_prior(estimator: str) -> None:
    table = census(3000)
    release = Perturbation(random_state=4).publish(table, BetaLikeness(4))
    query = Query((Range("salary", 1, 12),))
    assert release.estimates([query], estimator)[0] == pytest.approx(query.count(table), rel=1e-6)


@pytest.mark.parametrize("matrix", ["exact", "closed-form"])
def test_the_inverse_is_that_of_the_published_files_and_nothing_else(tmp_path: Path, matrix: Choice) -> None:
    """PM^-1 E' of the paper, by NumPy from the lines of the files: no prior, no control variate."""
    table = census(3000)
    Perturbation(matrix=matrix, random_state=4).publish(table, BetaLikeness(4)).save(tmp_path / "release")
    texts = {name: (tmp_path / "release" / f"{name}.csv").read_text(encoding="utf-8") for name in ("matrix", "table")}
    head, *lines = csv.reader(texts["matrix"].splitlines())
    values = np.array(head[1:], np.float64)
    pm = np.array([line[1:] for line in lines], np.float64)
    assert head[1:] == [line[0] for line in lines]
    rows = list(csv.DictReader(texts["table"].splitlines()))
    salaries, ages = (np.array([float(row[name]) for row in rows]) for name in ("salary_randomised", "age"))
    release = dc.load(tmp_path / "release")
    for (young, old), (poor, rich) in (((16, 45), (1, 15)), ((30, 39), (20, 50)), ((0, 99), (1, 12))):
        seen = salaries[(ages >= young) & (ages <= old)]
        estimated = np.linalg.inv(pm) @ [int((seen == value).sum()) for value in values]
        wanted = estimated[(values >= poor) & (values <= rich)].sum()
        query = Query((Range("age", young, old), Range("salary", poor, rich)))
        assert release.estimates([query], "inverse")[0] == pytest.approx(wanted, abs=1e-6)
        assert release.estimates([query], "controlled-inverse")[0] != pytest.approx(wanted, rel=1e-3)


@pytest.mark.slow
def test_estimators_in_many_simulated_releases() -> None:
    """The inverses are unbiased. em and ridge are biased, less than these are noisy, and closer to the truth.

    Means of 100 runs within 4 standard errors of the truth: chance alone fails one of the six once in 2,500 times.
    The others are not near to their limits.
    """
    table = census(4000)
    queries = [
        Query((Range("age", 16, 45), Range("salary", 1, 15))),
        Query((Range("education", 12), Range("salary", 30))),
        Query((Range("age", 60), OneOf("gender", ("Female",)), Range("salary", 20, 25))),
    ]
    truth = np.array([query.count(table) for query in queries])
    assert (truth > 0).all()
    promise, runs = BetaLikeness(4), 100
    matrix = Perturbation().find(promise, Prior.of(table))
    rng = np.random.default_rng([11, 12])
    found = {name: np.empty((runs, len(queries))) for name in ("inverse", "controlled-inverse", "em", "ridge")}
    for run in range(runs):
        drawn = draw(matrix, table.sensitive_codes, rng)
        release = PerturbedRelease.from_draws(table, drawn, matrix, promise=promise, scheme="perturbation", seeded=rng)
        for name, estimates in found.items():
            estimates[run] = release.estimates(queries, name)  # type: ignore[arg-type]
    for name in ("inverse", "controlled-inverse"):
        noise = found[name].std(axis=0)
        assert (np.abs(found[name].mean(axis=0) - truth) <= 4 * noise / np.sqrt(runs)).all()
    for name in ("em", "ridge"):
        assert (np.abs(found[name].mean(axis=0) - truth) < noise).all()
        assert (((found[name] - truth) ** 2).mean(axis=0) < noise**2).all()


def test_the_inverse_is_unbiased_with_rows_withheld() -> None:
    """Means of 4,000 runs within 4 standard errors of the truth: chance alone fails one of the three once in 5,000."""
    matrix = Perturbation().find(BetaLikeness(2), prior_of([30, 50, 20]))
    rng = np.random.default_rng([5, 5])
    truth = np.array([10, 60, 5])
    published = np.array(
        [sum(rng.multinomial(n, matrix.cells[:, i]) for i, n in enumerate(truth)) for _ in range(4000)]
    )
    found = reconstruct(matrix, np.array([30, 50, 20]), published, None, "inverse")
    assert (np.abs(found.mean(axis=0) - truth) <= 4 * found.std(axis=0) / np.sqrt(4000)).all()


# ------------------------------------------------------------------------------------------------------------- audit


def failed(audit: Audit) -> set[str]:
    return {check.name for check in audit.checks if not check.holds} | {
        "kept" for kept in audit.promises if not kept.holds
    }


def test_values_that_were_not_randomised_are_found(tmp_path: Path) -> None:
    # the distribution is uniform, so that published counts alone would tell nothing
    n = 4000
    table = dc.read(
        pa.table({"q": np.arange(n) // 2, "s": [f"v{i % 8}" for i in range(n)]}), quasi=["q"], sensitive="s"
    )
    scheme, promise = Perturbation(), BetaLikeness(1)
    matrix = scheme.find(promise, Prior.of(table))
    drawn = draw(matrix, table.sensitive_codes)
    for name, codes in (
        ("raw", table.sensitive_codes.copy()),
        ("half", np.where(np.arange(n) % 2, drawn, table.sensitive_codes)),
    ):
        release = perturbed(table, codes, matrix, promise)
        release.save(tmp_path / name)
        assert failed(audited(tmp_path / name, table)) == {"draws"}
        assert failed(audited(tmp_path / name, table, trace=release.trace)) == {"draws"}
    release = perturbed(table, drawn, matrix, promise)
    release.save(tmp_path / "good")
    assert audited(tmp_path / "good", table).holds
    assert release.trace is not None
    assert failed(audited(tmp_path / "good", table, trace=release.trace[::-1].copy())) >= {"rows"}


def test_withheld_rows_must_keep_the_promise(tmp_path: Path) -> None:
    n = 600
    table = dc.read(pa.table({"q": np.arange(n), "s": [f"v{i % 6}" for i in range(n)]}), quasi=["q"], sensitive="s")
    promise = BetaLikeness(1)
    matrix = Perturbation().find(promise, Prior.of(table))
    drawn = draw(matrix, table.sensitive_codes)
    fair, unfair = drawn.copy(), drawn.copy()
    fair[:12] = -1
    unfair[0:60:6] = -1
    for name, codes, holds in (("fair", fair, True), ("unfair", unfair, False)):
        release = perturbed(table, codes, matrix, promise)
        release.save(tmp_path / name)
        for trace in (None, release.trace):
            found = audited(tmp_path / name, table, trace=trace)
            assert found.promises[0].holds is holds
            assert failed(found) == (set() if holds else {"kept"})


def test_promises_that_cannot_be_judged_do_not_hold(tmp_path: Path) -> None:
    table = census(200)
    Perturbation().publish(table, BetaLikeness(2)).save(tmp_path / "r")
    found = audited(tmp_path / "r", table, promises="k-anonymity(k=2)")
    assert not found.holds
    stronger = audited(tmp_path / "r", table, promises="beta-likeness(beta=1)")
    assert failed(stronger) == {"kept"}
    assert stronger.losses["ail"] == 0.0
    assert 0.0 < stronger.losses["retention"] < 1.0
    assert stronger.promises[0].achieved == pytest.approx(2.0, rel=1e-6)


def test_the_matrix_is_found_quickly_for_many_values() -> None:
    rng = np.random.default_rng([1, 2])
    counts = rng.integers(1, 2000, 300)
    matrix = Perturbation().find(BetaLikeness(2), prior_of(counts))
    assert matrix.stochastic and matrix.retention.min() > 1 / 300
