"""Which rows are near each other, and how many at most.

In every piece rows are in ascending order of their sensitive value (its code). ``first[c]`` and ``last[c]`` are the
codes where the neighbourhood of the value ``c`` begins and ends; neither decreases as ``c`` grows. Two rows are *near*
each other if the number of one lies in the neighbourhood of the other.
"""

import numpy as np

from discreet.kernels.compiling import kernel_in_place, part_in_place


@part_in_place
def near(low, high, first, last):
    """Whether two values, the lower code first, are near each other."""
    return low >= first[high] or high <= last[low]


@kernel_in_place
def crowd_of(sensitive_codes, start, end, first, last):
    """Return the smallest g such that no two rows g or more places apart are near.

    It is the paper's maximum covering-set size: the most rows on one side of a neighbourhood, its owner included.
    """
    most = 0
    i = start
    for j in range(start, end):
        while not near(sensitive_codes[i], sensitive_codes[j], first, last):
            i += 1
        most = max(most, j - i + 1)
    return most


@part_in_place
def fullest(sensitive_codes, start, end, first, last):
    """Return the largest number of rows in the whole neighbourhood of any row."""
    most = 0
    i = start
    j = start
    for x in range(start, end):
        while sensitive_codes[i] < first[sensitive_codes[x]]:
            i += 1
        while j < end and sensitive_codes[j] <= last[sensitive_codes[x]]:
            j += 1
        most = max(most, j - i)
    return most


@kernel_in_place
def keeps_as_one(sensitive_codes, start, end, first, last, m, least):
    """Whether these rows as one group keep the promise."""
    size = end - start
    return size >= least and fullest(sensitive_codes, start, end, first, last) * m <= size


@kernel_in_place
def turns(sensitive_codes, start, end, first, last, m, least, joining):
    """Return how many hands rows can be dealt to in turn, and how many groups these can form; (0, 0) if impossible.

    All groups must have at least ``least`` rows and keep the promise. With as many hands as the crowd, each hand is a
    group without two rows near each other. Where groups must be larger than that allows, other numbers of hands work,
    too: the rows of a neighbourhood are consecutive, so each of h hands gets at most f / h, rounded up, of f rows. If m
    times that is at most the size of every hand, at most 1 / m of the rows of any hand lie in any neighbourhood, and
    the same holds for joined hands. Without ``joining`` every hand must be a group.
    """
    size = end - start
    if size < max(m, least):
        return 0, 0
    crowd = crowd_of(sensitive_codes, start, end, first, last)
    if crowd * max(m, least) <= size:
        return crowd, crowd
    if least <= m:
        return 0, 0
    most = fullest(sensitive_codes, start, end, first, last)
    best, groups = 0, 0
    smallest = m if joining else least
    while smallest <= size:
        hands = size // smallest
        if (most + hands - 1) // hands * m <= size // hands:
            joined = (least + size // hands - 1) // (size // hands)
            if hands // joined > groups:
                best, groups = hands, hands // joined
            if smallest >= least:
                break
        # next, hands with room for one more row of a neighbourhood, or of exactly the required size
        larger = (smallest // m + 1) * m
        smallest = least if smallest < least < larger else larger
    return best, groups


@kernel_in_place
def divisible(sensitive_codes, start, end, first, last, m, least):
    """Whether dealing can put these rows into groups of at least ``least`` rows that keep the promise."""
    joining = np.bool_(True)  # not a constant, for which what is called is compiled once more
    return turns(sensitive_codes, start, end, first, last, m, least, joining)[1] > 0
