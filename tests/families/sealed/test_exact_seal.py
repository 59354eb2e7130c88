"""Sealed and mirrored releases with exact quasi-identifiers: by all worlds of small tables, nobody who knows the
algorithm and reads the files believes more than is promised."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import discreet as dc
from discreet.schemes import SCHEMES
from naive import exact_seal as naive
from naive import mirrored, sealed
from naive.sealed import Point
from support.audits import audits, failing

Toy = tuple[list[Point], str, dict[str, float]]
VALUES = ["aaabb", "aabbc", "aaabbb", "aaaabbb", "aaaabbbb"]


def toy(seed: int) -> Toy:
    """Persons at few places, some of them at the same, their values, and one bound for all of these."""
    chance = random.Random(seed)
    values = VALUES[seed % len(VALUES)]
    points = [(float(chance.randrange(4)), float(chance.randrange(2))) for _ in values]
    cap = chance.choice([cap for cap in (0.6, 0.67, 0.75, 0.8, 0.85, 0.9) if cap >= values.count("a") / len(values)])
    return points, values, dict.fromkeys(values, cap)


def by_sealed(points: list[Point], caps: Mapping[str, float], **how: Any) -> Any:
    def published(world: Sequence[str]) -> Mapping[naive.Told, Fraction]:
        result: dict[naive.Told, Fraction] = defaultdict(Fraction)
        for groups, chance in sealed.Course(points, world, caps, **how).results().items():
            result[frozenset((part, sum(cut[2] for cut in around)) for part, around in groups)] += chance
        return result

    return published


def by_mirrored(points: list[Point], caps: Mapping[str, float], **how: Any) -> Any:
    return lambda world: mirrored.published(points, world, caps, **how)


def worst(seed: int, algorithm: Any, **how: Any) -> float:
    """The strongest belief of anyone, as a multiple of its bound."""
    points, values, caps = toy(seed)
    found = naive.posteriors(points, values, algorithm(points, caps, **how))
    return max(float(chance) / caps[value] for one in found.values() for (_, value), chance in one.items())


@pytest.mark.slow
@pytest.mark.parametrize("price", [1.2, 0.3, 0.15])
def test_nobody_who_knows_the_algorithm_believes_more_of_a_sealed_release_than_is_promised(price: float) -> None:
    found = [worst(seed, by_sealed, price=price) for seed in range(60)]
    assert max(found) <= 1 + 1e-8
    assert max(found) > 0.95, "the tables are too easy: the bound can be attained"


@pytest.mark.slow
def test_of_a_mirrored_release_nobody_believes_more_than_the_groups_at_a_place_say() -> None:
    several, most = 0, 0.0
    for seed in range(60):
        points, values, caps = toy(seed)
        for files, beliefs in naive.posteriors(points, values, by_mirrored(points, caps)).items():
            leaks = any(float(group[2]) > 0 for group, _ in files)
            for (person, value), chance in beliefs.items():
                assert leaks or chance == naive.mean_of_groups(files, points[person], value)
                most = max(most, float(chance) / caps[value])
                several += sum(points[person] in group[0] for group, _ in files) > 1
    assert 0.95 < most <= 1 + 1e-8
    assert several, "nobody's place is in several groups"


@pytest.mark.slow
@pytest.mark.parametrize(
    "broken", [{"rejection": sealed.without_coin}, {"charge": sealed.for_nothing}, {"curious": True}]
)
def test_what_breaks_the_seal_is_found_by_the_same_test(broken: dict[str, Any]) -> None:
    assert any(worst(seed, by_sealed, price=0.3, **broken) > 1.05 for seed in range(60))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "algorithm"), [("sealed", by_sealed), ("mirrored", by_mirrored)])
def test_the_files_are_those_that_the_definition_allows(name: str, algorithm: Any, tmp_path: Path) -> None:
    cut = 0
    for seed in range(25):
        points, values, caps = toy(seed)
        (cap,) = set(caps.values())
        columns = {"x": [x for x, _ in points], "y": [y for _, y in points], "s": list(values)}
        table = dc.read(pa.table(columns), quasi=["x", "y"], sensitive="s")
        found = naive.posteriors(points, values, algorithm(points, caps))
        for run in range(6):
            kind = SCHEMES[name]
            release = kind(descriptions="exact", random_state=run).publish(table, dc.LDiversity(1 / cap))
            folder = tmp_path / f"{seed}-{run}"
            release.save(folder)
            files = naive.read(folder, ["x", "y"], "s")
            assert files in found, "no world leads to these files"
            assert max(found[files].values()) <= cap + 1e-8
            assert any(found[files].get((person, value)) for person, value in enumerate(values))
            cut += len(files) > 1
    assert cut > 10


def people() -> dc.Table:
    rng = random.Random(3)
    columns = {"x": [rng.randrange(40) for _ in range(300)], "s": [rng.choice("aabbccd") for _ in range(300)]}
    return dc.read(pa.table(columns), quasi="x", sensitive="s")


@pytest.mark.parametrize("name", ["sealed", "mirrored"])
def test_the_groups_and_the_seal_are_those_that_boxes_would_have(name: str) -> None:
    boxes, exact = (
        dc.publish(people(), "l-diversity(l=2)", SCHEMES[name](descriptions=how, random_state=2))
        for how in ("boxes", "exact")
    )
    assert exact.format == f"{name}-exact" and exact.groups == boxes.groups > 2
    assert boxes.trace is not None and exact.trace is not None
    assert len({*zip(boxes.trace.tolist(), exact.trace.tolist(), strict=True)}) == boxes.groups
    assert exact.leakage[exact.trace].tolist() == boxes.leakage[boxes.trace].tolist()
    for found in audits(exact, people()):
        said = {check.name: check.sentence for check in found.checks}
        assert "groups" in said and "seal" in said


def test_groups_that_no_cuts_make_are_found(tmp_path: Path) -> None:
    table = people()
    groups = (table.sensitive_codes % 2).astype("int32")
    release = dc.SealedExactRelease.from_seal(
        table,
        groups,
        [0.0, 0.0],
        promise=dc.LDiversity(2),
        scheme="sealed",
        options=dc.Sealed(descriptions="exact").options,
    )
    release.save(tmp_path / "release")
    for trace in (release.trace, None):
        found = dc.audit(tmp_path / "release", table, trace=trace)
        assert "groups" in failing(found)
