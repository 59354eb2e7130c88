"""Which sensitive values share a bucket, and how large buckets are: nothing here sees a quasi-identifier."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.judging import SLACK

Bucketing = Literal["fewest", "published"]
"""Which values share buckets: whole buckets of one value and what is left apart, or by the algorithms of the paper."""

_BLOCK = 4096
"""This many widths are looked at in one go."""


class Run(NamedTuple):
    """Some rows of a value in a bucket."""

    value: int
    bucket: int
    rows: int
    apart: bool
    """Whether no group may get two of the rows of this value that are in runs like this."""


@dataclass(frozen=True, eq=False)
class Buckets:
    """The rows of a table in buckets of one width, but for the last, which may be shorter."""

    width: int
    rows: NDArray[np.int64]
    """Bucket by bucket, each ``width`` long; within a bucket those with a mark come first."""
    marks: NDArray[np.int32]
    """Rows with the same mark of 0 or more must come into different groups; -1 where it does not matter."""

    @property
    def full(self) -> int:
        """The number of buckets that are not short."""
        return len(self.rows) // self.width

    def __len__(self) -> int:
        """The number of buckets."""
        return -(-len(self.rows) // self.width)

    def __getitem__(self, bucket: int) -> slice:
        """Where the rows of a bucket are."""
        return slice(bucket * self.width, min((bucket + 1) * self.width, len(self.rows)))


def bucketize(
    sensitive_codes: NDArray[np.int32],
    caps: NDArray[np.float64],
    least: int,
    bucketing: Bucketing,
    rng: np.random.Generator,
    floors: NDArray[np.float64] | None = None,
) -> Buckets:
    """Rows of these sensitive values in buckets such that groups of one row from each keep the caps and the floors.

    ``caps``: the largest share of every value, ``floors``: the smallest, which all rows together keep; ``least``: the
    fewest rows of a group.

    >>> sensitive_codes = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 4, 5, 5], np.int32)
    >>> buckets = bucketize(sensitive_codes, np.full(6, 0.2), 1, "fewest", np.random.default_rng(1))
    >>> sensitive_codes[buckets.rows].reshape(5, 3).tolist()
    [[0, 0, 0], [1, 1, 1], [2, 2, 2], [5, 3, 3], [5, 4, 4]]
    """
    counts = np.bincount(sensitive_codes, minlength=len(caps))
    width, runs = contents(counts, caps, least, bucketing, floors)
    return _filled(sensitive_codes, counts, width, runs, rng)


def contents(
    counts: NDArray[np.int64],
    caps: NDArray[np.float64],
    least: int,
    bucketing: Bucketing,
    floors: NDArray[np.float64] | None = None,
) -> tuple[int, list[Run]]:
    """The width of buckets, as large as can be, and what they hold.

    A value that has whole buckets of its own, but for the short one, is in every group as often: that is how floors are
    kept.

    Theorem 4 of the paper: where the most frequent value still fits into a bucket that is narrow enough for the
    strictest cap, each value may be in a group once, which Algorithm 1 brings about; else Algorithm 3 is needed. (Its
    condition, beta >= phi_max / phi_min - 1, is not sufficient, because the number of buckets is whole.)
    With ``fewest``, Algorithm 1 is used on what is left of each value after it has filled whole buckets.

    With ``published``, and unless Algorithm 1 will do, the width is the c that Algorithm 3 finds by Equation 7, as in
    the paper: of 6, 7 and 12 rows 6 under beta=.72 (five buckets) and 5 under beta=.67. But the equation takes dummies
    for rows that are published. They are not, and groups without a row of the short bucket may then break the promise:
    of 3, 6 and 14 rows it allows a width of 5 under beta=.67, although two of the groups have four rows, one of them of
    the first value, which may have 22 % of a group. Such widths are passed over; none is where c divides the rows.
    """
    for width in widths(counts, caps, least, floors):
        if bucketing == "fewest" or counts.max() <= width:
            return width, kept_apart(counts, width)
        break  # Algorithm 1 will not do for any narrower one either
    for width in widths_in_sequence(counts, caps, least, floors):
        return width, in_sequence(counts, width)
    raise AssertionError("buckets of one row make one group of all rows, which keeps all bounds")


def widths(
    counts: NDArray[np.int64], caps: NDArray[np.float64], least: int, floors: NDArray[np.float64] | None = None
) -> Iterator[int]:
    """The widths of buckets, largest first, for which no value need be in more of them than its cap allows.

    A value of n rows needs ceil(n / width) buckets. It fills floor(n / width) of them alone, which must be as many as
    its floor demands of a group with a row of the short bucket.

    >>> next(widths(np.array([6, 7, 12]), np.array([6, 7, 12]) / 25 * 1.7, 1))
    8
    """
    held = counts > 0
    floors = np.zeros(len(counts)) if floors is None else floors
    counts, caps, floors = counts[held], caps[held], floors[held]
    rows = int(counts.sum())
    most = max(1, min(int(np.floor(caps.min() * rows + SLACK)), rows // least))
    for high in range(most, 0, -_BLOCK):
        some = np.arange(high, max(0, high - _BLOCK), -1)
        fits = np.ones(len(some), np.bool_)
        for count, cap, floor in zip(counts.tolist(), caps.tolist(), floors.tolist(), strict=True):
            fits &= -(-count // some) <= cap * (rows // some) + SLACK
            fits &= count // some + SLACK >= floor * -(-rows // some)
        yield from some[fits].tolist()


def widths_in_sequence(
    counts: NDArray[np.int64], caps: NDArray[np.float64], least: int, floors: NDArray[np.float64] | None = None
) -> Iterator[int]:
    """The widths of buckets filled in sequence, largest first, that Equation 7 allows and that keep the bounds.

    Equation 7 asks that |B_i| c / n_i <= 1 + beta for each value, where |B_i| is the number of buckets that it is in.
    Where a cap is 1, 1 + beta is that of the other values. That the caps are kept is asked of groups with a row of the
    short bucket and of groups without, that the floors are of the larger ones: a value is in every group as often as
    there are whole buckets of it alone.

    >>> next(widths_in_sequence(np.array([6, 7, 12]), np.array([6, 7, 12]) / 25 * 1.72, 1))
    6
    """
    held = counts > 0
    floors = np.zeros(len(counts)) if floors is None else floors
    counts, caps, floors = counts[held], caps[held], floors[held]
    rows = int(counts.sum())
    limits = np.where(caps < 1.0, caps, counts * (caps / counts).max())
    for high in range(min(int(counts.max()), rows // least), 0, -_BLOCK):
        some = np.arange(high, max(0, high - _BLOCK), -1)[:, None]
        first, last, alone = _reach(counts, some)
        full, short = rows // some, rows % some > 0
        every, without = last - first + 1, np.minimum(last, full - 1) - first + 1
        fits = every * some <= limits * rows + SLACK
        fits &= (every <= caps * (full + short) + SLACK) & (without <= caps * full + SLACK)
        fits &= alone + SLACK >= floors * (full + short)
        yield from some[fits.all(axis=1), 0].tolist()


def kept_apart(counts: NDArray[np.int64], width: int) -> list[Run]:
    """Whole buckets of one value; then what is left of the values, to be kept apart, by Algorithm 1.

    What is left is less than a bucket of each value. The values of which most is left get a bucket each. The others
    fill these up, the most frequent first, each into the emptiest bucket and what does not fit into the next. If not
    all fits, the rarest are in a bucket of their own, which is short.

    Why a group can be given a row of every bucket and none twice of what is left of a value (Theorem 2 of the paper):
    in a bucket, let s rows be of the value that it was given to. These are nowhere else, so they may go to any of the w
    groups. Of any other value q of the bucket no more than s rows are left in all, C of them in this bucket and so at
    most s - C in others. Each of the C may go to at least w - s + C > w - s groups. There are w - s such rows in the
    bucket; so if they are placed first, one by one, each finds a group. In the short bucket there is at most one value
    that is also in another bucket. If C rows of it are here, it has at most w - C rows elsewhere, so each of them finds
    a group if they are placed first. All the others may go anywhere.

    >>> [(run.value, run.bucket, run.rows) for run in kept_apart(np.array([5, 3, 3]), 4)]
    [(0, 0, 4), (1, 1, 3), (2, 1, 1), (2, 2, 2), (0, 2, 1)]
    """
    runs = []
    bucket = 0
    for value in np.flatnonzero(counts >= width).tolist():
        for _ in range(int(counts[value]) // width):
            runs.append(Run(value, bucket, width, False))
            bucket += 1
    left = counts % width
    order = np.argsort(-left, kind="stable")[: np.count_nonzero(left)].tolist()
    more, short = divmod(int(left.sum()), width)
    emptiest = []
    for at, value in enumerate(order[:more]):
        emptiest.append((int(left[value]), bucket + at))
        runs.append(Run(value, bucket + at, int(left[value]), True))
    heapq.heapify(emptiest)
    in_short = []
    others = order[more:]
    while short > 0:
        rows = min(short, int(left[others[-1]]))
        in_short.append(Run(others[-1], bucket + more, rows, True))
        short -= rows
        left[others[-1]] -= rows
        if left[others[-1]] == 0:
            others.pop()
    for value in others:
        while left[value] > 0:
            filled, into = heapq.heappop(emptiest)
            rows = min(int(left[value]), width - filled)
            runs.append(Run(value, into, rows, True))
            left[value] -= rows
            if filled + rows < width:
                heapq.heappush(emptiest, (filled + rows, into))
    return runs + in_short[::-1]


def in_sequence(counts: NDArray[np.int64], width: int) -> list[Run]:
    """Values one after the other, each bucket filled before the next (Algorithm 3): first those that fill buckets
    exactly, and rare ones before frequent ones.

    The paper's text sorts by decreasing support, its Tables 7 to 9 by increasing. Only the latter reach the beta that
    it gives for them.

    >>> [(run.value, run.bucket, run.rows) for run in in_sequence(np.array([6, 7, 12]), 5)][:4]
    [(0, 0, 5), (0, 1, 1), (1, 1, 4), (1, 2, 3)]
    """
    held = np.flatnonzero(counts)
    order = held[_order(counts[held], np.array([[width]]))[0]]
    ends = np.cumsum(counts[order])
    runs = []
    for value, start, end in zip(order.tolist(), (ends - counts[order]).tolist(), ends.tolist(), strict=True):
        for bucket in range(start // width, -(-end // width)):
            rows = min(end, (bucket + 1) * width) - max(start, bucket * width)
            runs.append(Run(value, bucket, rows, False))
    return runs


def _order(counts: NDArray[np.int64], widths: NDArray[np.int64]) -> NDArray[np.intp]:
    """Per width the order in which values fill the buckets: first those that fill them exactly, then by support."""
    return np.argsort(counts + (counts % widths != 0) * (counts.max() + 1), axis=1, kind="stable")


def _reach(counts: NDArray[np.int64], widths: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
    """Per width and value the first and the last bucket that the value is in, and how many whole ones are its alone."""
    order = _order(counts, widths)
    ends = np.cumsum(counts[order], axis=1)
    starts = ends - counts[order]
    found = np.empty((3, *ends.shape), np.int64)
    alone = np.maximum(ends // widths - -(-starts // widths), 0)
    for line, in_order in zip(found, (starts // widths, (ends - 1) // widths, alone), strict=True):
        np.put_along_axis(line, order, in_order, axis=1)
    return tuple(found)


def _filled(
    sensitive_codes: NDArray[np.int32], counts: NDArray[np.int64], width: int, runs: list[Run], rng: np.random.Generator
) -> Buckets:
    """Rows in place of numbers of rows, drawn at random among those of a value."""
    order = rng.permutation(len(sensitive_codes))
    order = order[np.argsort(sensitive_codes[order], kind="stable")]
    apart = [run.value for run in runs if run.apart]
    split = np.flatnonzero(np.bincount(apart, minlength=len(counts)) > 1) if apart else np.zeros(0, np.int64)
    mark_of = np.full(len(counts), -1, np.int32)
    mark_of[split] = np.arange(len(split))
    by_value = sorted(runs)
    rows = np.array([run.rows for run in by_value])
    bucket = np.repeat([run.bucket for run in by_value], rows)
    marks = np.repeat([mark_of[run.value] if run.apart else -1 for run in by_value], rows).astype(np.int32)
    # by bucket, those with marks first; in random order otherwise, which matters where rows are matched one by one
    places = np.lexsort((rng.permutation(len(order)), marks < 0, bucket))
    return Buckets(width, order[places], marks[places])
