"""Picking rows for groups, placing those left over, and finding the groups that cover a point: against plain Python."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from discreet.families.ambiguity.kernels.picking import GroupTerms, build_groups
from discreet.families.ambiguity.kernels.placing import join_groups, listed, place_rows
from discreet.kernels.presence.value_index import cover, index_groups, mix


def table(seed: int, rows: int, numbers: tuple[int, ...], width: int, skew: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    firsts = np.cumsum([0, *numbers[:-1]])
    codes = np.stack([rng.integers(0, d, rows) + first for d, first in zip(numbers, firsts, strict=True)], axis=1)
    shares = (np.arange(width) + 1.0) ** -skew
    return codes.astype(np.int32), rng.choice(width, rows, p=shares / shares.sum()).astype(np.int32)


def product(codes: np.ndarray, rows: np.ndarray) -> int:
    return int(np.prod([len(set(codes[rows, j])) for j in range(codes.shape[1])]))


def kept(codes: np.ndarray, sensitive_codes: np.ndarray, groups: np.ndarray, alpha: float, beta: float) -> None:
    for g in range(groups.max(initial=-1) + 1):
        rows = np.flatnonzero(groups == g)
        if len(rows):
            assert max(Counter(sensitive_codes[rows]).values()) <= beta * len(rows) + 1e-9
            assert alpha >= 1 or len(rows) <= alpha * product(codes, rows) + 1e-9


@pytest.mark.parametrize("near", [True, False])
@pytest.mark.parametrize(
    ("alpha", "beta", "size", "quota", "rounds"),
    [(0.3, 0.25, 4, 1, 1), (1.0, 0.5, 2, 1, 1), (0.05, 0.2, 5, 1, 1), (0.3, 0.35, 6, 2, 1), (0.3, 0.25, 4, 1, 3)],
)
def test_groups_keep_their_terms(near: bool, alpha: float, beta: float, size: int, quota: int, rounds: int) -> None:
    for seed in range(4):
        codes, sensitive_codes = table(seed, 120, (9, 4, 3), 8, 0.5 * seed)
        groups, number = build_groups(
            codes, sensitive_codes, 16, 8, GroupTerms(alpha, beta, size, quota, rounds, 8, near)
        )
        assert number == groups.max() + 1
        kept(codes, sensitive_codes, groups, alpha, beta)
        sizes = np.bincount(groups[groups >= 0], minlength=number)
        assert (sizes >= size).all()
        assert (sizes >= size * rounds).sum() >= number - 1  # only the last may have had no rows for all its rounds


@pytest.mark.parametrize("near", [True, False])
def test_as_many_groups_as_there_can_be(near: bool) -> None:
    """Where alpha asks for nothing: no value has more than n / l rows, so all but n mod l rows find a group of l."""
    for seed in range(6):
        codes, sensitive_codes = table(seed, 200, (9, 4), 12, 0.3)
        most = int(np.bincount(sensitive_codes).max())
        size = 200 // most
        groups, number = build_groups(codes, sensitive_codes, 13, 12, GroupTerms(1.0, 1.0 / size, size, 1, 1, 4, near))
        assert number == 200 // size
        assert (groups < 0).sum() == 200 % size


def test_the_widest_row_is_picked() -> None:
    codes = np.array([[0, 3], [0, 3], [0, 4], [1, 4], [1, 3]], np.int32)
    sensitive_codes = np.array([0, 0, 1, 1, 2], np.int32)
    groups, number = build_groups(codes, sensitive_codes, 5, 3, GroupTerms(1.0, 0.5, 2, 1, 1, 8, False))
    # the first row meets, of the second value's rows, the one that differs from it in both attributes
    assert number == 2 and groups[0] == groups[3]


def test_of_many_blocks_the_widest_row_is_picked() -> None:
    """With more blocks than a word has bits, after a row of the more frequent value; all rows differ in few blocks."""
    blocks = 70
    codes = np.tile(2 * np.arange(blocks, dtype=np.int32), (8, 1))
    codes[5, -1] += 1  # row 4 shows nothing new
    codes[6, -2] += 1
    codes[7, [-2, -1]] += 1
    for rows in ([0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 6]):
        sensitive_codes = np.array([0] * 5 + [1] * 4, np.int32)[[0, *(row + 1 for row in rows)]]
        lines = codes[[0, *rows]]
        groups, _ = build_groups(lines, sensitive_codes, 2 * blocks, 2, GroupTerms(1.0, 0.5, 2, 1, 1, 8, False))
        assert groups[-1] == 0  # the widest, which is the last, is in the first group


def test_rows_left_over_are_placed_where_terms_are_kept() -> None:
    for seed in range(4):
        codes, sensitive_codes = table(seed, 90, (7, 4, 3), 6, 0.8)
        groups, number = build_groups(codes, sensitive_codes, 14, 6, GroupTerms(0.4, 0.34, 3, 1, 1, 8, False))
        left = np.flatnonzero(groups < 0)
        lists = listed(codes, sensitive_codes, groups, number, 14)
        before = groups.copy()
        starts = np.zeros(len(left), np.int64)
        placed = sum(place_rows(left, starts, lists, groups, 0.4, 0.34, number, lacking) for lacking in (True, False))
        placed += join_groups(left, starts, lists, groups, 0.4, 0.34, number, 14)
        assert placed == (before < 0).sum() - (groups < 0).sum()
        kept(codes, sensitive_codes, groups, 0.4, 0.34)
        for row in np.flatnonzero(groups < 0):  # what was not placed fits nowhere
            for g in range(number):
                rows = np.append(np.flatnonzero(groups == g), row)
                if len(rows) > 1:
                    fits = (sensitive_codes[rows] == sensitive_codes[row]).sum() <= 0.34 * len(rows) + 1e-9
                    assert not (fits and len(rows) <= 0.4 * product(codes, rows) + 1e-9)


def test_two_groups_are_joined_where_together_they_have_room() -> None:
    codes = np.array([[j, 10 + j] for j in range(7)], np.int32)
    sensitive_codes = np.array([0, 1, 2, 0, 3, 4, 0], np.int32)
    groups = np.array([0, 0, 0, 1, 1, 1, -1], np.int32)
    lists = listed(codes, sensitive_codes, groups, 2, 20)
    left, starts = np.array([6]), np.array([0])
    # one of three may be the same, so of four only one, but of seven three
    assert place_rows(left, starts, lists, groups, 0.5, 0.43, 2, False) == 0
    assert join_groups(left, starts, lists, groups, 0.5, 0.43, 2, 20) == 1
    assert len(set(groups.tolist())) == 1


@pytest.mark.parametrize("numbers", [(3, 2), (90, 4, 2), (200, 150)])
def test_covering_groups_are_those_that_show_all_values(numbers: tuple[int, ...]) -> None:
    """Few values, shown by most groups; many, shown by one or two in 70; and both at once."""
    rng = np.random.default_rng(1)
    codes, _ = table(2, 300, numbers, 4, 0.5)
    groups = rng.integers(0, 70, 300)
    values = int(sum(numbers))
    listed_pairs = np.unique(np.concatenate([groups * values + column for column in codes.T]))
    shown = index_groups(listed_pairs % values, (listed_pairs // values).astype(np.int32), 70, values)
    presences = rng.random(70)
    points = np.concatenate([codes[:40], np.array([[-1] * len(numbers)])]).astype(np.int64)
    times, largest, logs = cover(points, shown, 70, presences)
    shares = np.full(70 * 2, 0.5)
    mixed = mix(points, shown, 70, presences, np.arange(71) * 2, np.tile([0, 1], 70).astype(np.int32), shares, 3)
    for at, point in enumerate(points):
        held = [g for g in range(70) if all(point[j] in codes[groups == g, j] for j in range(len(numbers)))]
        assert times[at] == len(held)
        assert largest[at] == max([presences[g] for g in held], default=0.0)
        assert -np.expm1(logs[at]) == pytest.approx(1 - np.prod([1 - presences[g] for g in held]))
        assert mixed[at] == pytest.approx(np.array([0.5, 0.5, 0.0]) * sum(presences[g] for g in held))
