"""Groups of an ambiguous release are mended until they keep what is promised about several attributes, or dissolved."""

from __future__ import annotations

from collections import Counter

import numpy as np

from discreet.families.ambiguity.kernels.mending import Rows, mend


def kept(rows: Rows, members: np.ndarray) -> bool:
    """By definition: no value has too large a share, and enough combinations are shown."""
    size = len(members)
    shares = all(
        max(Counter(line[members].tolist()).values()) <= share * size + 1e-9
        for line, share in zip(rows.sensitive_codes, rows.shares, strict=True)
    )
    shown = np.prod([len(set(column[members].tolist())) for column in rows.codes.T])
    return shares and (rows.alpha >= 1.0 or size <= rows.alpha * shown + 1e-9)


def test_all_groups_keep_their_terms_and_good_ones_lose_nobody() -> None:
    rng = np.random.default_rng(5)
    mended = 0
    for _ in range(60):
        n, number = int(rng.integers(6, 60)), int(rng.integers(1, 9))
        codes = np.stack([rng.integers(0, 6, n), 6 + rng.integers(0, 5, n)], axis=1).astype(np.int32)
        sensitive_codes = np.stack([rng.integers(0, 4, n), 4 + rng.integers(0, 3, n)]).astype(np.int64)
        rows = Rows(codes, sensitive_codes, np.array([0.5, 0.6]), float(rng.choice([0.4, 0.8, 1.0])))
        before = rng.integers(-1, number, n).astype(np.int32)
        groups = before.copy()
        mend(rows, groups, number, rng.permutation(number), 11, 7, 8)
        assert groups.min() >= -1 and groups.max() < number
        for group in np.unique(groups[groups >= 0]):
            assert kept(rows, np.flatnonzero(groups == group))
        for group in np.unique(before[before >= 0]):
            own = np.flatnonzero(before == group)
            if kept(rows, own):  # joined as a whole, or left as it was
                assert len(set(groups[own].tolist())) == 1 and groups[own[0]] >= 0
            else:
                mended += bool((groups[own] >= 0).all())
    assert mended > 20


def test_what_cannot_be_mended_is_in_no_group() -> None:
    rows = Rows(np.zeros((3, 1), np.int32), np.zeros((1, 3), np.int64), np.array([0.5]), 1.0)
    groups = np.array([0, 0, 1], np.int32)
    mend(rows, groups, 2, np.arange(2), 1, 1, 4)
    assert groups.tolist() == [-1, -1, -1]
