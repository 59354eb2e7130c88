"""Words of bits, one bit per group: which groups are set, and the beliefs they justify together.

Many groups have the same presence, so sorted groups form runs of equals. The set bits of a run are those up to its end
without those up to its beginning, and are counted in one step, however many there are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.kernels.compiling import kernel, part

FEW = 12
"""Words with up to this many runs are counted run by run; in others, bits are visited one by one."""
CERTAIN = -1000.0
"""Stands for the logarithm of 0: e to the power of it is 0, and 0 times it is still a number."""


class Runs(NamedTuple):
    """Consecutive groups with the same presence.

    Words in which presences change too often form runs with a presence of 0, and their bits are visited instead.
    """

    word: NDArray[np.int64]
    """The word of the run's last group; the next run begins behind it."""
    bits: NDArray[np.uint64]
    """The bits of that word up to the run's last group."""
    rank: NDArray[np.int64]
    """The rank of its presence among those of all runs, the largest first."""
    absent: NDArray[np.float64]
    """log(1 - presence)"""
    ranked: NDArray[np.float64]
    """The presences of all runs, the largest first, and 0."""
    mixed: NDArray[np.int64]
    """The words in which presences change too often; the next two fields are per group."""
    presences: NDArray[np.float64]
    absences: NDArray[np.float64]


@kernel
def runs_of(presences):
    """Return the runs of groups with these presences."""
    number = presences.shape[0]
    words = (number + 63) // 64
    word_of, bits = np.empty(number, np.int64), np.zeros(number, np.uint64)
    presence, mixed = np.empty(number), np.empty(words, np.int64)
    runs, many = 0, 0
    for word in range(words):
        first, last = word << 6, min(number, (word + 1) << 6)
        changes = 1
        for g in range(first + 1, last):
            changes += presences[g] != presences[g - 1]
        if changes > FEW:
            mixed[many] = word
            many += 1
        for g in range(first, last):
            here = 0.0 if changes > FEW else presences[g]
            if runs == 0 or presence[runs - 1] != here:
                presence[runs] = here
                runs += 1
            word_of[runs - 1] = word
            bits[runs - 1] = ~np.uint64(0) >> np.uint64(63 - (g & 63))
    presence = presence[:runs].copy()
    order = np.argsort(-presence)
    rank = np.empty(runs, np.int64)
    rank[order] = np.arange(runs)
    absent, absences = np.maximum(np.log1p(-presence), CERTAIN), np.maximum(np.log1p(-presences), CERTAIN)
    ranked = np.append(presence[order], 0.0)
    return Runs(
        word_of[:runs].copy(), bits[:runs].copy(), rank, absent, ranked, mixed[:many].copy(), presences, absences
    )


@part
def _many(bits):
    """Count the set bits of a word; the compiler turns this loop into one instruction."""
    many = 0
    while bits != 0:
        bits &= bits - np.uint64(1)
        many += 1
    return many


@kernel
def said_by_word(words, runs, before):
    """Return the number of groups whose bits are set, their largest presence, and the sum of log(1 - presence).

    ``before`` is room for a number per word.
    """
    number = 0
    for word in range(words.shape[0]):
        before[word] = number
        number += _many(words[word])
    first, logs, last = runs.word.shape[0], 0.0, 0
    for run in range(runs.word.shape[0]):
        here = before[runs.word[run]] + _many(words[runs.word[run]] & runs.bits[run])
        logs += (here - last) * runs.absent[run]
        first = min(first, runs.rank[run] if here > last else first)
        last = here
    largest = runs.ranked[first]
    for word in runs.mixed:
        common = words[word]
        while common != 0:
            lowest = common & (~common + np.uint64(1))
            g = (word << 6) + place_of(lowest)
            logs += runs.absences[g]
            largest = max(largest, runs.presences[g])
            common ^= lowest
    return number, largest, logs


@part
def place_of(bit):
    """Return the position of the only set bit of a word, as a sum of six independent terms."""
    place = np.int64(bit & np.uint64(0xAAAAAAAAAAAAAAAA) != 0)
    place += np.int64(bit & np.uint64(0xCCCCCCCCCCCCCCCC) != 0) << 1
    place += np.int64(bit & np.uint64(0xF0F0F0F0F0F0F0F0) != 0) << 2
    place += np.int64(bit & np.uint64(0xFF00FF00FF00FF00) != 0) << 3
    place += np.int64(bit & np.uint64(0xFFFF0000FFFF0000) != 0) << 4
    place += np.int64(bit & np.uint64(0xFFFFFFFF00000000) != 0) << 5
    return place


@kernel
def listed(common, first, hits, number):
    """Write the groups set in a word into ``hits``, from index ``number`` on; return the index after the last.

    ``first`` is the group of the word's first bit.
    """
    while common != 0:
        lowest = common & (~common + np.uint64(1))
        hits[number] = first + place_of(lowest)
        number += 1
        common ^= lowest
    return number
