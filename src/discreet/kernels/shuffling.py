"""A random order from random words, in linear time and friendly to processor caches."""

import numpy as np

from discreet.kernels.compiling import kernel

LARGEST = 1 << 16
"""The most items in one bucket: 48 random bits times their number must fit into a word."""


@kernel
def shuffle(words, spare, bits, order):
    """Fill ``order`` with a random order of as many items as there are ``words``; False if the words do not suffice.

    The highest ``bits`` bits (at most 16) of each word put an item into a bucket, and the lowest 48 then shuffle within
    the buckets (Fisher and Yates); no bit is used twice. Items that fall into buckets independently and are shuffled
    there are in a uniformly random order (Rao 1961, Sandelius 1962), and unlike a shuffle of all items at once, this
    one never leaves the cache. Where 2 ** 48 is not a multiple of the number of places, the surplus is rejected (Lemire
    2019), and a word of ``spare`` is used instead.
    """
    low = np.uint64((1 << 48) - 1)
    places = np.zeros((1 << bits) + 1, np.int64)
    for word in words:
        places[((word >> np.uint64(48)) >> np.uint64(16 - bits)) + np.uint64(1)] += 1
    for bucket in range(1 << bits):
        if places[bucket + 1] > LARGEST:
            return False
        places[bucket + 1] += places[bucket]
    for thing in range(words.shape[0]):
        bucket = (words[thing] >> np.uint64(48)) >> np.uint64(16 - bits)
        order[places[bucket]] = thing
        places[bucket] += 1
    spared = 0
    start = 0
    for bucket in range(1 << bits):
        end = places[bucket]  # where the bucket began before its items were put there
        for last in range(end - start - 1, 0, -1):
            choices = np.uint64(last + 1)
            product = (words[start + last] & low) * choices
            if product & low < choices:
                surplus = (low - choices + np.uint64(1)) % choices  # 2 ** 48 modulo choices
                while product & low < surplus:
                    if spared == spare.shape[0]:
                        return False
                    product = (spare[spared] & low) * choices
                    spared += 1
            other = start + np.int64(product >> np.uint64(48))
            order[start + last], order[other] = order[other], order[start + last]
        start = end
    return True
