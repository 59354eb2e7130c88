"""Deal the values of groups to their members, likelier values first, so that all counts come out right."""

from discreet.kernels.compiling import kernel


@kernel
def reassign(firsts, lines, numbers, starts, values, amounts, likely, rounds, places, dealt):
    """Write into ``dealt`` how likely each member of a group has each of the group's values.

    The members of group ``g`` are ``firsts[g]`` to ``firsts[g + 1]``; member ``i`` stands for ``numbers[i]`` persons,
    who have value ``v`` with a likelihood in proportion to ``likely[lines[i], v]``. The group has ``amounts[k]`` of
    ``values[k]``, for ``k`` from ``starts[g]`` to ``starts[g + 1]``. The likelihoods are scaled in turns, ``rounds``
    times: those of every value, so that their sum over persons is in proportion to its amount, and those of every
    member, so that they add up to 1. The results for group ``g`` begin at ``places[g]``, one line per member.
    """
    for group in range(firsts.shape[0] - 1):
        first, last = firsts[group], firsts[group + 1]
        begin, width = starts[group], starts[group + 1] - starts[group]
        place = places[group]
        persons, rows = 0.0, 0.0
        for i in range(first, last):
            persons += numbers[i]
            for k in range(width):
                dealt[place + (i - first) * width + k] = likely[lines[i], values[begin + k]]
        for k in range(width):
            rows += amounts[begin + k]
        for _ in range(rounds):
            for k in range(width):
                total = 0.0
                for i in range(first, last):
                    total += numbers[i] * dealt[place + (i - first) * width + k]
                if total > 0.0:
                    scale = amounts[begin + k] / rows * persons / total
                    for i in range(first, last):
                        dealt[place + (i - first) * width + k] *= scale
            for i in range(first, last):
                total = 0.0
                for k in range(width):
                    total += dealt[place + (i - first) * width + k]
                for k in range(width):
                    if total > 0.0:
                        dealt[place + (i - first) * width + k] /= total
                    else:  # nothing that the group has is possible, so nothing is known
                        dealt[place + (i - first) * width + k] = amounts[begin + k] / rows


@kernel
def tally(firsts, lines, numbers, starts, values, places, dealt, codes, joint):
    """Add to ``joint[codes[line], v]`` how many persons with the code are expected to have value ``v``."""
    for group in range(firsts.shape[0] - 1):
        begin, width = starts[group], starts[group + 1] - starts[group]
        for i in range(firsts[group], firsts[group + 1]):
            place = places[group] + (i - firsts[group]) * width
            for k in range(width):
                joint[codes[lines[i]], values[begin + k]] += numbers[i] * dealt[place + k]
