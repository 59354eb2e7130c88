"""Annealing: which items share a part, by moves that may make things worse, and less and less so."""

import numpy as np

from discreet.kernels.compiling import kernel, part

SLACK = 1e-12
"""What sums of the same numbers in another order may differ by."""
DRIFT = 1e-9
"""What the sums of changes may be off by; whatever is remembered is summed anew."""


@kernel
def anneal(shared, exposed, bounds, aim, price, moves, patience, kept, parts):
    """Walk from a part per item towards parts that keep much of ``shared`` and expose at most ``bounds[aim]``.

    A pair of items in one part keeps its entry of ``shared``, and exposes its entry of ``exposed`` times the number of
    items in the part. In each of ``moves``, an item (the first number) joins the part of another (the second) or, if
    the third is 1, changes places with it; an item that would join itself gets a part of its own. Moves are made unless
    they lose more than their ``patience``, where exposing too much loses ``price`` times the excess. For each of
    ``bounds``, in ascending order, ``kept`` and ``parts`` remember the most that was kept by an exposure above the
    bound before it and not above this one.
    """
    size = shared.shape[0]
    label = np.arange(size)
    count = np.ones(size, np.int64)
    inside = np.zeros(size)  # what the pairs of each part expose, per item in it
    total, exposure, excess = 0.0, 0.0, 0.0
    for step in range(moves.shape[0]):
        item, other = moves[step, 0], moves[step, 1]
        old, new = label[item], label[other]
        swap = moves[step, 2] == 1 and item != other
        if item == other:
            if count[old] == 1:
                continue
            new = 0
            while count[new] > 0:
                new += 1
        elif old == new:
            continue
        gain, left, joined = _change(item, old, new, label, shared, exposed)
        if swap:
            back, away, home = _change(other, new, old, label, shared, exposed)
            gain += back - 2.0 * shared[item, other]  # the two are in different parts before and after
            left, joined = left - home + exposed[item, other], joined - away - exposed[item, other]
        grown = 0 if swap else 1
        in_old, in_new = inside[old] - left, inside[new] + joined
        exposed_then = exposure - inside[old] * count[old] - inside[new] * count[new]
        exposed_then += in_old * (count[old] - grown) + in_new * (count[new] + grown)
        excess_then = max(0.0, exposed_then - bounds[aim])
        if price * (excess_then - excess) - gain > patience[step]:
            continue
        total, exposure, excess = total + gain, exposed_then, excess_then
        inside[old], inside[new] = in_old, in_new
        count[old], count[new] = count[old] - grown, count[new] + grown
        label[item] = new
        if swap:
            label[other] = old
        if total > kept[min(np.searchsorted(bounds, exposure - DRIFT), bounds.shape[0] - 1)] + DRIFT:
            _remember(label, count, shared, exposed, bounds, kept, parts)


@part
def _change(item, old, new, label, shared, exposed):
    """Return what an item that changes its part keeps more, what it exposed in the old part, and exposes in the new."""
    gain, left, joined = 0.0, 0.0, 0.0
    for at in range(label.shape[0]):
        if label[at] == old:
            gain -= shared[item, at]
            left += exposed[item, at]
        elif label[at] == new:
            gain += shared[item, at]
            joined += exposed[item, at]
    return gain, left, joined


@part
def _remember(label, count, shared, exposed, bounds, kept, parts):
    """Remember these parts if they keep more than those that are remembered for their exposure."""
    total, exposure = 0.0, 0.0
    for item in range(label.shape[0]):
        for other in range(item):
            if label[item] == label[other]:
                total += shared[item, other]
                exposure += exposed[item, other] * count[label[item]]
    at = np.searchsorted(bounds, exposure - SLACK)
    if at < bounds.shape[0] and total > kept[at] + SLACK:
        kept[at] = total
        for item in range(label.shape[0]):
            parts[at, item] = label[item]
