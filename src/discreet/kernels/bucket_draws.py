"""Drawing groups from buckets: how many rows of each, and which."""

import numpy as np

from discreet.kernels.compiling import kernel, part, part_in_place
from discreet.kernels.judging import SLACK


@kernel
def split_evenly(sizes, caps, floors, smallest):
    """Halve buckets as long as both halves could be groups; return how many rows each group draws, one line per group.

    A half could be a group if it has ``smallest`` rows and from no bucket more than its cap or less than its floor, as
    shares of the half.
    Halves round up on one side and down on the other.
    """
    k = sizes.shape[0]
    depth = 66
    waiting = np.empty((depth, k), np.int64)
    # value by value: to assign a line at once takes seconds to compile, mostly the text of an error
    for j in range(k):
        waiting[0, j] = sizes[j]
    top = 1
    groups = np.empty((64, k), np.int64)
    number = 0
    halves = np.empty((2, k), np.int64)
    while top > 0:
        top -= 1
        both = True
        for side in range(2):
            size = 0
            for j in range(k):
                halves[side, j] = (waiting[top, j] + 1 - side) // 2
                size += halves[side, j]
            both = both and size >= smallest and size > 0
            for j in range(k):
                both = both and floors[j] * size - SLACK <= halves[side, j] <= caps[j] * size + SLACK
        if both:
            for side in range(2):
                for j in range(k):
                    waiting[top + side, j] = halves[side, j]
            top += 2
        else:
            if number == groups.shape[0]:
                larger = np.empty((2 * number, k), np.int64)
                for g in range(number):
                    for j in range(k):
                        larger[g, j] = groups[g, j]
                groups = larger
            for j in range(k):
                groups[number, j] = waiting[top, j]
            number += 1
    return groups[:number]


@kernel
def counting_order(bins, number):
    """Return the order that sorts ``bins``, whole numbers below ``number``, and how often each number occurs.

    The sort is stable.
    """
    sizes = np.zeros(number, np.int64)
    for b in bins:
        sizes[b] += 1
    ends = np.cumsum(sizes) - sizes
    order = np.empty(bins.shape[0], np.int64)
    for r in range(bins.shape[0]):
        order[ends[bins[r]]] = r
        ends[bins[r]] += 1
    return order, sizes


@part
def lists(numbers, many):
    """Return the rows with each number one after the other, and where those of each begin, and one more for the end."""
    rows, sizes = counting_order(numbers, many)
    return rows, np.append(0, np.cumsum(sizes))


@part_in_place
def _free_from(jump, place):
    """Return the first free place at or after ``place``; taken places point onwards."""
    root = place
    while jump[root] != root:
        root = jump[root]
    while jump[place] != root:
        jump[place], place = root, jump[place]
    return root


@part_in_place
def _free_seed(group, seeds, tried, seed):
    """Return the next of ``seeds`` whose row is free, and how many were tried; after the last seed, the next free row.

    ``seed`` is the seed of the previous group.
    """
    while group[seed] >= 0:
        seed = seeds[tried] if tried < seeds.shape[0] else (seed + 1) % group.shape[0]
        tried += 1
    return seed, tried


@kernel
def draw_along(keys, starts, wanted, seeds):
    """Draw groups from buckets of rows sorted by their ``keys``, each around a seed.

    Bucket ``b`` is the run ``starts[b]`` to ``starts[b + 1]``. For every line of ``wanted``, the next free one of
    ``seeds`` (a place in some bucket) is the centre of the group: it takes from every bucket the free rows whose keys
    are nearest to the seed's. If a bucket has no rows left on one side, they are taken from the other. Returns the
    group of every place.
    """
    n = keys.shape[0]
    buckets = starts.shape[0] - 1
    # one sentinel beyond each end of every bucket: place p of bucket b is p + 1 + 2 b
    after = np.arange(np.int32(n + 2 * buckets))
    before = after.copy()
    group = np.full(n, -1, np.int32)
    seed, tried = seeds[0], 1
    for g in range(wanted.shape[0]):
        seed, tried = _free_seed(group, seeds, tried, seed)
        key = keys[seed]
        for b in range(buckets):
            shift = 1 + 2 * b
            first = starts[b]
            last = starts[b + 1]
            low = first + np.searchsorted(keys[first:last], key)
            right = _free_from(after, low + shift)
            left = _free_from(before, low - 1 + shift)
            for _ in range(wanted[g, b]):
                has_left = left >= first + shift
                has_right = right < last + shift
                if has_left and (not has_right or key - keys[left - shift] < keys[right - shift] - key):
                    place = left
                else:
                    place = right
                group[place - shift] = g
                after[place] = place + 1
                before[place] = place - 1
                if place == left:
                    left = _free_from(before, left)
                else:
                    right = _free_from(after, right)
    return group


@kernel
def draw_nearest(points, starts, wanted, seeds):
    """Like ``draw_along``, but by exact distance: from every bucket the free rows nearest to the seed (Euclidean)."""
    n, d = points.shape
    group = np.full(n, -1, np.int32)
    distance = np.empty(n)
    seed, tried = seeds[0], 1
    for g in range(wanted.shape[0]):
        seed, tried = _free_seed(group, seeds, tried, seed)
        for b in range(starts.shape[0] - 1):
            if wanted[g, b] == 0:
                continue
            free = np.empty(starts[b + 1] - starts[b], np.int64)
            number = 0
            for place in range(starts[b], starts[b + 1]):
                if group[place] < 0:
                    total = 0.0
                    for j in range(d):
                        total += (points[place, j] - points[seed, j]) ** 2
                    distance[number] = total
                    free[number] = place
                    number += 1
            nearest = np.argsort(distance[:number], kind="mergesort")[: wanted[g, b]]
            for at in nearest:
                group[free[at]] = g
    return group
