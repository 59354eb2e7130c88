"""Projection plans: the two ratios, CODIP* as printed, all plans of few attributes, and the search among many."""

from __future__ import annotations

import itertools
import time

import numpy as np
import pytest

from discreet.errors import DiscreetError
from discreet.families.codip import plans
from discreet.table.dependency import Dependency, Plan, dependency, plan_of
from discreet.table.table import Column
from naive import codip as naive


def always(plan: Plan) -> bool:
    return True


def column(name: str, codes: np.ndarray) -> Column:
    return Column(name, "ordinal", codes.astype(np.int32), np.array([f"v{each}" for each in range(9)], object))


def related(random: np.random.Generator, attributes: int, rows: int) -> list[Column]:
    """Attributes in families, some of which follow their family closely and some hardly."""
    found, parent = [], random.integers(0, 4, rows)
    for number in range(attributes):
        if random.random() < 0.4:
            parent = random.integers(0, int(random.integers(1, 5)), rows)
        noise = random.random(rows) < random.random()
        found.append(column(f"a{number}", np.where(noise, random.integers(0, 4, rows), parent)))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_ratios_by_definition(seed: int) -> None:
    random = np.random.default_rng(seed)
    columns = related(random, int(random.integers(2, 6)), int(random.integers(2, 40)))
    texts = [[each.texts[code] for code in each.codes] for each in columns]
    harmless = {each.name: {f"v{random.integers(9)}" for _ in range(int(random.integers(0, 3)))} for each in columns}
    found = dependency(columns, harmless)
    for i, one in enumerate(texts):
        assert found.entropy[i] == pytest.approx(naive.entropy(one), abs=1e-9)
        for j, other in enumerate(texts):
            if i != j:
                assert found.shared[i, j] == pytest.approx(naive.mutual_information(one, other), abs=1e-9)
                expected = naive.exposable(one, other, harmless[columns[i].name], harmless[columns[j].name])
                assert found.exposable[i, j] == pytest.approx(expected, abs=1e-9)
    safe = [harmless[each.name] for each in columns]
    for plan in naive.partitions(tuple(range(len(columns)))):
        assert found.association_loss(plan) == pytest.approx(naive.association_loss(texts, plan), abs=1e-7)
        assert found.exposure(plan) == pytest.approx(naive.exposure(texts, safe, plan), abs=1e-7)


def test_the_special_plans() -> None:
    """One table loses nothing and exposes everything; a table per attribute the reverse."""
    found = dependency(related(np.random.default_rng(3), 5, 200))
    together, apart = (tuple(range(5)),), tuple((each,) for each in range(5))
    assert (found.association_loss(together), found.exposure(together)) == (0.0, pytest.approx(1.0))
    assert (found.association_loss(apart), found.exposure(apart)) == (1.0, 0.0)


def test_attributes_that_say_nothing() -> None:
    constant = [column("a", np.zeros(5)), column("b", np.zeros(5))]
    found = dependency(constant)
    assert found.association_loss(((0,), (1,))) == found.exposure(((0, 1),)) == 0.0
    unique = Column("id", "ordinal", np.arange(3000, dtype=np.int32), np.array([str(i) for i in range(3000)], object))
    found = dependency([unique, column("b", np.arange(3000) % 4)])
    assert found.shared[0, 1] == pytest.approx(2.0)  # an attribute that is unique tells the other


def test_harmless_values_that_do_not_exist() -> None:
    with pytest.raises(DiscreetError, match="column 'a' has no value 'none' that could be harmless"):
        dependency([column("a", np.zeros(5))], {"a": ["none"]})
    with pytest.raises(DiscreetError, match="harmless values are given for 'b', which is not sensitive"):
        dependency([column("a", np.zeros(5))], {"b": ["none"]})


@pytest.mark.parametrize(("size", "plans_of_it"), [(1, 1), (2, 2), (3, 5), (4, 15), (5, 52), (7, 877)])
def test_all_plans(size: int, plans_of_it: int) -> None:
    listed = {plan_of(labels) for labels in plans._all_plans(size)}
    assert len(listed) == plans_of_it
    assert listed == {tuple(sorted(plan)) for plan in naive.partitions(tuple(range(size)))}


def by_figure_4(found: Dependency, beta: float) -> tuple[tuple[int, ...], ...] | None:
    """CODIP* line by line, with exposure as the only thing that CheckPlan* checks."""
    plan: list[tuple[int, ...]] = [(each,) for each in range(len(found.names))]
    if found.exposure(tuple(plan)) > beta:
        return None
    while len(plan) > 1:
        best = max(
            ((u, w) for u in plan for w in plan if u < w),
            key=lambda pair: np.mean([found.shared[i, j] for i in sum(pair, ()) for j in sum(pair, ()) if i < j]),
        )
        merged = [part for part in plan if part not in best] + [tuple(sorted(sum(best, ())))]
        if found.exposure(tuple(merged)) > beta:
            break
        plan = merged
    return tuple(sorted(plan))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30))
def test_merges_of_the_paper_and_better_plans(seed: int) -> None:
    random = np.random.default_rng(seed)
    found = dependency(related(random, int(random.integers(2, 7)), 120))
    for beta in (0.0, 0.1, 0.3, 0.6, 1.0):
        theirs = by_figure_4(found, beta)
        assert theirs is not None
        way = plans.merged(found, lambda plan, beta=beta: found.exposure(plan) <= beta)
        assert found.association_loss(way[-1]) == pytest.approx(found.association_loss(theirs))
        ours = plans.chosen(found, lambda plan: True, beta)
        assert ours is not None
        every = list(naive.partitions(tuple(range(len(found.names)))))
        best = min(found.association_loss(plan) for plan in every if found.exposure(plan) <= beta + 1e-12)
        assert found.association_loss(ours) == pytest.approx(best, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_the_search_among_many(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all plans can be listed too, the search loses no more than there must be lost."""
    found = dependency(related(np.random.default_rng(seed), 10, 400))
    exposures = (0.0, 0.02, 0.1, 0.2, 0.5, 1.0)
    every = plans._all_plans(10)
    loss, exposure = plans._ratios(found, every)
    least = [float(loss[exposure <= beta + plans.SLACK].min()) for beta in exposures]
    monkeypatch.setattr(plans, "EXACT", 2)
    for beta, best in zip(exposures, least, strict=True):
        chosen = plans.chosen(found, always, beta, steps=16_000)
        assert chosen is not None and found.exposure(chosen) <= beta + plans.SLACK
        assert found.association_loss(chosen) == pytest.approx(best, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_no_merges_are_better_than_the_search(seed: int) -> None:
    """Neither the paper's merges nor those that go on after a failure, however little is searched."""
    found = dependency(related(np.random.default_rng(seed), 13, 300))
    for beta in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5):
        ways = [
            plans.merged(found, lambda plan, beta=beta: found.exposure(plan) <= beta, others=others)[-1]
            for others in (False, True)
        ]
        chosen = plans.chosen(found, always, beta, steps=4000)
        hasty = plans.chosen(found, always, beta, steps=0)
        assert chosen is not None and hasty is not None
        least = min(map(found.association_loss, ways)) + 1e-12
        assert found.association_loss(chosen) <= found.association_loss(hasty) <= least


def test_plans_do_not_depend_on_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine, on which an hour passes between any two looks at the clock, finds the same plans."""
    found = dependency(related(np.random.default_rng(3), 13, 300))

    def planned() -> list[object]:
        return [plans.frontier(found, 8000), plans.chosen(found, always, 0.1, steps=8000)]

    at_leisure, hours = planned(), itertools.count(0, 3600)
    for clock in ("time", "monotonic", "perf_counter", "process_time"):
        monkeypatch.setattr(time, clock, lambda: float(next(hours)))
    assert planned() == at_leisure


@pytest.mark.slow
def test_more_steps_never_find_worse_plans() -> None:
    found = dependency(related(np.random.default_rng(1), 16, 300))
    for beta in (0.02, 0.1, 0.3):
        losses = []
        for steps in (0, 10, 700, 1000, 1300, 2000, 3500, 8000, 20_000):
            chosen = plans.chosen(found, always, beta, steps=steps)
            assert chosen is not None and found.exposure(chosen) <= beta + plans.SLACK
            losses.append(found.association_loss(chosen))
        assert losses == sorted(losses, reverse=True) and losses[-1] < losses[0]


def test_a_plan_of_the_frontier_is_found_by_its_exposure() -> None:
    """What is shown can be had: asking for the exposure of a plan gives one that loses no more."""
    found = dependency(related(np.random.default_rng(2), 14, 300))
    shown = plans.frontier(found, 4000)
    assert len(shown) > 20
    for plan in shown[::5]:
        chosen = plans.chosen(found, always, found.exposure(plan), steps=4000)
        assert chosen is not None and found.association_loss(chosen) <= found.association_loss(plan) + 1e-12


def test_many_attributes_that_say_nothing_or_the_same() -> None:
    """Copies of attributes expose nothing, so they share a table even where nothing may be exposed."""
    random = np.random.default_rng(0)
    codes = [random.integers(0, 4, 200) for _ in range(6)]
    found = dependency([column(f"a{at}", codes[at % 6]) for at in range(12)])
    assert plans.chosen(found, always, 0.0, steps=1000) == tuple((at, at + 6) for at in range(6))
    constant = dependency([column(f"a{at}", np.zeros(9)) for at in range(12)])
    chosen = plans.chosen(constant, always, 0.0, steps=1000)
    assert chosen is not None and constant.association_loss(chosen) == constant.exposure(chosen) == 0.0


def test_a_plan_that_is_not_allowed() -> None:
    """Where the best merge fails the paper stops; others are tried after it."""
    found = dependency(related(np.random.default_rng(5), 5, 300))
    first = plans.merged(found, lambda plan: True)[1]
    pair = next(part for part in first if len(part) == 2)

    def without(plan: tuple[tuple[int, ...], ...]) -> bool:
        return not any(set(pair) <= set(part) for part in plan)

    assert len(plans.merged(found, without)) == 1
    assert len(plans.merged(found, without, others=True)) > 1
    chosen = plans.chosen(found, without, 1.0)
    assert chosen is not None and without(chosen)
    assert plans.chosen(found, lambda plan: False, 1.0) is None
