"""What a table can promise about numbers that lie near each other: the epsilons and m that can be kept together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from discreet.principles import Prior
from discreet.principles.neighbourhoods import Function
from discreet.principles.proximity import Proximity, rounded_down
from discreet.table.texts import number_text

RELATIVE = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
"""The epsilons on the frontier of relative neighbourhoods."""
MOST_POINTS = 12
"""The largest number of points on a frontier."""
RISKS = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 200, 500, 1000)
"""The values of m for which the widest neighbourhood is reported."""
LEAST_POWER = -323
"""The exponent of the smallest power of ten that a float can represent."""


@dataclass(frozen=True)
class Point:
    """One epsilon, and the largest m that can be kept with it."""

    epsilon: float
    m: int


@dataclass(frozen=True)
class Width:
    """One m, and the supremum of the epsilons it can be kept with: smaller ones work, the supremum does not."""

    m: int
    epsilon: float
    """Infinite if any epsilon works."""


@dataclass(frozen=True)
class ProximityPlan:
    """What can be promised about how many numbers of a group lie near each other."""

    neighbourhood: str
    """``absolute``, ``relative``, or ``given`` for a pair of widths or a function."""
    epsilon: float | None
    m: int | None
    largest_m: int | None
    """The largest m for the given epsilon."""
    widest_epsilon: float | None
    """The supremum of epsilon for the given m: not attained itself, infinite if any epsilon works, 0 if none does."""
    feasible: bool | None
    """Whether epsilon and m can be kept together, if both were given."""
    sentences: tuple[str, ...]
    frontier: tuple[Point, ...]
    widths: tuple[Width, ...]
    below: float | None = None
    above: float | None = None
    """How far the given neighbourhoods reach below and above a number, if they are a pair of widths."""


def plan_proximity(
    prior: Prior,
    *,
    epsilon: float | None = None,
    m: float | None = None,
    neighbourhood: str | tuple[float, float] | Function = "absolute",
) -> ProximityPlan:
    """What can be promised about numbers that lie near each other, given ``epsilon``, ``m`` or both.

    >>> import numpy as np
    >>> salaries = ("1000", "1010", "1020", "16000", "24000", "31000", "33000", "50000")
    >>> prior = Prior(np.ones(8, int), salaries, "numeric", attribute="salary")
    >>> told = plan_proximity(prior, epsilon=20, m=3)
    >>> told.feasible, told.largest_m, told.widest_epsilon
    (False, 2, 20.0)
    >>> print(told.sentences[-1])
    With m=3, epsilon can be anything below 20, but not 20 itself.
    """
    asked = asked_about(epsilon, m, neighbourhood)
    asked.require(prior)
    reach = asked.reachable(prior)
    assert reach.strongest is not None
    by_width = isinstance(neighbourhood, str)  # else what is near is given, and only m is open
    near = not by_width or epsilon is not None
    both = near and m is not None
    said = []
    if both:
        said.append(reach.sentence if reach.feasible else f"{asked} cannot be kept. {reach.sentence}")
    elif near:
        said.append(replace(asked, m=int(reach.strongest)).reachable(prior).sentence)
    if m is not None and by_width:
        said.append(on_widest(asked, prior))
    return ProximityPlan(
        str(neighbourhood) if by_width else "given",
        asked.epsilon if by_width and near else None,
        None if m is None else asked.m,
        int(reach.strongest) if near else None,
        asked.widest(prior) if m is not None and by_width else None,
        reach.feasible if both else None,
        tuple(said),
        frontier(prior, str(neighbourhood)) if by_width else (),
        widths(prior, str(neighbourhood)) if by_width else (),
        asked.below,
        asked.above,
    )


def asked_about(
    epsilon: float | None, m: float | None, neighbourhood: str | tuple[float, float] | Function
) -> Proximity:
    """The promise that is asked about; what is left open is as weak as can be."""
    least = 1 if m is None else m
    if isinstance(neighbourhood, tuple):
        return Proximity(m=least, below=neighbourhood[0], above=neighbourhood[1])  # type: ignore[arg-type]
    if not isinstance(neighbourhood, str):
        return Proximity(m=least, neighbourhood=neighbourhood)  # type: ignore[arg-type]
    return Proximity(0.0 if epsilon is None else epsilon, least, neighbourhood)  # type: ignore[arg-type]


def on_widest(asked: Proximity, prior: Prior) -> str:
    """A sentence on how large epsilon can be with the m of a promise."""
    widest = asked.widest(prior)
    if math.isinf(widest):
        most = " up to 1" if asked.neighbourhood == "relative" else ""
        return f"With m={asked.m}, epsilon can be anything{most}."
    if widest > 0.0:
        read = rounded_down(widest)
        edge = f", but not {number_text(read)} itself" if read == widest else " or a little more (rounded down)"
        return f"With m={asked.m}, epsilon can be anything below {number_text(read)}{edge}."
    reach = replace(asked, epsilon=0.0).reachable(prior)
    return f"With m={asked.m}, no epsilon can be kept, not even 0: m can be at most {reach.strongest:,}."


def largest_m(prior: Prior, neighbourhood: str = "absolute", epsilon: float = 0.0) -> int:
    """The largest m that can be kept with an epsilon, at least 1."""
    return int(asked_about(epsilon, None, neighbourhood).reachable(prior).strongest or 1)


def frontier(prior: Prior, neighbourhood: str = "absolute") -> tuple[Point, ...]:
    """The largest m for selected epsilons: round numbers over the range in which m falls to 2.

    >>> import numpy as np
    >>> prior = Prior(np.ones(9, int), tuple(map(str, range(0, 90, 10))), "numeric")
    >>> [(point.epsilon, point.m) for point in frontier(prior)]
    [(0.0, 9), (7.0, 9), (10.0, 4), (20.0, 3), (30.0, 2), (40.0, 1)]
    """
    grid: Sequence[float] = RELATIVE
    if neighbourhood == "absolute":
        best = largest_m(prior)
        low, high = Proximity(0.0, best).widest(prior), Proximity(0.0, 2).widest(prior)
        grid = (0.0,) if best == 1 else (0.0, *_round_numbers(low, high))
    return tuple(Point(epsilon, largest_m(prior, neighbourhood, epsilon)) for epsilon in grid)


def _round_numbers(low: float, high: float) -> list[float]:
    """Numbers such as 1, 2, 5, 10 from just below ``low`` to the first that is at least ``high``, if there is one."""
    if not (math.isfinite(low) and math.isfinite(high) and low > 0.0):
        return []
    numbers: list[float] = []
    power = max(LEAST_POWER, math.floor(math.log10(low)) - 1)
    while not numbers or numbers[-1] < high:
        numbers += [float(f"{digit}e{power}") for digit in (1, 2, 3, 4, 5, 7)]
        power += 1
    first = max(0, sum(number < low for number in numbers) - 1)
    last = next(at for at, number in enumerate(numbers) if number >= high)
    numbers = [number for number in numbers[first : last + 1] if math.isfinite(number)]
    if len(numbers) >= MOST_POINTS:  # only the leading digits 1, 2 and 5
        numbers = [number for number in numbers if f"{number:e}"[0] in "125"] + numbers[-1:]
    step = max(1, math.ceil(len(numbers) / (MOST_POINTS - 1)))
    return sorted({*numbers[::-step]})


def widths(prior: Prior, neighbourhood: str = "absolute") -> tuple[Width, ...]:
    """The supremum of epsilon for selected m, up to the largest m that can be kept with any epsilon.

    >>> import numpy as np
    >>> prior = Prior(np.ones(9, int), tuple(map(str, range(0, 90, 10))), "numeric")
    >>> [(one.m, one.epsilon) for one in widths(prior)]
    [(2, 40.0), (3, 30.0), (4, 20.0), (5, 10.0), (6, 10.0), (8, 10.0), (9, 10.0)]
    """
    best = largest_m(prior, neighbourhood)
    if best == 1:
        return ()
    listed = sorted({m for m in RISKS if m <= best} | ({best} if best <= RISKS[-1] else set()))
    return tuple(Width(m, asked_about(0.0, m, neighbourhood).widest(prior)) for m in listed)
