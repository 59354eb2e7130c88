"""Full-domain generalization by brute force: every combination of levels, each judged from the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

Node = tuple[int, ...]
Levels = Sequence[Sequence[Sequence[int]]]
"""``levels[axis][level][code]``: the node of a code."""
Holds = Callable[[list[int]], bool]
"""Whether the sensitive values of some rows, as one group, keep the promise."""


def halved(counts: Sequence[int], times: int) -> list[list[int]]:
    """Intervals of codes, halved so often: at the first place that leaves the halves most alike in rows.

    One list per level, the coarsest first: the interval of each code.
    """
    spans = [range(len(counts))]
    levels = [spans]
    for _ in range(times):
        finer: list[range] = []
        for span in spans:
            cuts = list(span)[1:]
            if cuts:
                rows = [abs(sum(counts[span[0] : cut]) - sum(counts[cut : span[-1] + 1])) for cut in cuts]
                cut = cuts[rows.index(min(rows))]
                finer += [range(span[0], cut), range(cut, span[-1] + 1)]
            else:
                finer.append(span)
        spans = finer
        levels.append(spans)
    return [
        [next(at for at, span in enumerate(spans) if code in span) for code in range(len(counts))] for spans in levels
    ]


def groups_at(points: Sequence[Sequence[int]], levels: Levels, node: Node, order: Sequence[int]) -> list[list[int]]:
    """The rows that agree at these levels, group by group, in ascending order of their nodes on the axes in order."""
    found: dict[tuple[int, ...], list[int]] = {}
    for row, point in enumerate(points):
        key = tuple(levels[axis][node[axis]][point[axis]] for axis in order)
        found.setdefault(key, []).append(row)
    return [found[key] for key in sorted(found)]


def published(
    groups: Sequence[list[int]], sensitive_codes: Sequence[int], holds: Holds, room: int
) -> list[list[int]] | None:
    """The groups that are left when those that break the promise are withheld; None if not so many may be.

    If the withheld rows together break the promise, the smallest other groups join them one by one, the first of equal
    size first.
    """
    left = [group for group in groups if holds([sensitive_codes[row] for row in group])]
    gone = [row for group in groups if group not in left for row in group]
    if not gone:
        return left
    joining = sorted(left, key=len)
    while len(gone) <= room:
        if holds([sensitive_codes[row] for row in gone]):
            return left
        if not joining:
            return None
        left = [group for group in left if group is not joining[0]]
        gone += joining.pop(0)
    return None


def all_published(
    points: Sequence[Sequence[int]],
    sensitive_codes: Sequence[int],
    levels: Levels,
    holds: Holds,
    order: Sequence[int],
    room: int = 0,
) -> dict[Node, list[list[int]]]:
    """What is published at every combination of levels at which something can be."""
    found = {}
    for node in product(*(range(len(axis)) for axis in levels)):
        left = published(groups_at(points, levels, node, order), sensitive_codes, holds, room)
        if left is not None:
            found[node] = left
    return found


def below(one: Node, other: Node) -> bool:
    """Whether no level of a combination is higher, and some is lower."""
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


def minimal(nodes: Sequence[Node]) -> set[Node]:
    """The combinations of which none of the others is below."""
    return {node for node in nodes if not any(below(other, node) for other in nodes)}
