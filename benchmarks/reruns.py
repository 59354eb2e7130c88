"""The adversary who knows the algorithm: which tables would have been published like this?

Quasi-identifiers, the multiset of sensitive values and the scheme are known. A *world* gives every person one of the
values, and all worlds are equally likely before anything is published. A scheme that looks at sensitive values makes
some worlds likelier than others by choosing this release and no other: the belief that a person has a value is

    sum of Pr[release | world] over the worlds in which the person has the value / the same sum over all worlds.

The promise does not bound this belief; what it does bound is what groups or trees say by themselves. `reruns` runs the
scheme on every world, which is exact for a scheme without chance, and `rejected` on worlds drawn at random. Chance in
the scheme is met by running it several times on each world; all beliefs come with their standard errors.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.adversary.attacks.rerunning import arrangements, content, standard_errors
from discreet.errors import DiscreetError
from discreet.releases.release import Release
from discreet.table.table import Table

Publish = Callable[[Table], Release]
"""A scheme with its promise: makes a release of a table."""
MOST = 200_000
"""So many worlds are enumerated at most."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is believed of every person by someone who knows the algorithm."""

    chances: NDArray[np.float64]
    """Per person and value: the belief."""
    errors: NDArray[np.float64]
    """Per person and value: the standard error of the belief; 0 where it is exact."""
    matches: int
    """From how many runs it was learnt: those that gave this release."""

    def strains(self, bounds: ArrayLike) -> NDArray[np.float64]:
        """Per person and value: the belief as a multiple of its bound, where beliefs of 0 keep every bound."""
        bounds = np.broadcast_to(np.asarray(bounds, np.float64), self.chances.shape)
        return np.asarray(np.divide(self.chances, bounds, out=np.zeros(bounds.shape), where=self.chances > 0.0))

    def over(self, bounds: ArrayLike, errors: float = 2.0) -> NDArray[np.bool_]:
        """Per person and value: whether the belief exceeds its bound by more than so many standard errors."""
        return np.asarray(self.chances - errors * self.errors > np.asarray(bounds) + 1e-9)


@dataclass(frozen=True, eq=False)
class Reruns:
    """What a scheme made of every world."""

    worlds: NDArray[np.int32]
    """Per world: the value of every person, as a code."""
    runs: int
    """How often the scheme was run on each world."""
    found: dict[Hashable, dict[int, int]]
    """Per content of a release: the worlds that gave it, and how often."""
    values: int
    """How many values there are."""

    def posterior(self, seen: Hashable) -> Posterior:
        """Return what is believed after a release with this content, which must be among those found."""
        if seen not in self.found:
            raise DiscreetError(
                "none of the reruns gave this release; give the table and the scheme that it was made from, and for a "
                "scheme that uses chance more runs"
            )
        at = np.fromiter(self.found[seen], np.int64)
        times = np.fromiter(self.found[seen].values(), np.float64)
        return _weighed(self.worlds[at], times, self.runs, self.values)


def worlds(table: Table, among: ArrayLike | None = None) -> Iterator[NDArray[np.int32]]:
    """Yield all ways in which the persons can have the values, or those of ``among`` theirs when the rest are known.

    >>> from discreet.datasets import patients
    >>> sum(1 for _ in worlds(patients(), among=[0, 1, 2]))
    6
    """
    rows = np.arange(table.rows) if among is None else np.asarray(among, np.int64)
    held = Counter(table.sensitive_codes[rows].tolist())
    number = math.factorial(len(rows)) // math.prod(math.factorial(count) for count in held.values())
    if number > MOST:
        raise DiscreetError(
            f"{len(rows)} persons can have their values in {number:,} ways, too many to look at each; look at fewer "
            "persons, or at ways drawn at random"
        )
    for values in arrangements(held, len(rows)):
        world = table.sensitive_codes.copy()
        world[rows] = values
        yield world


def with_values(table: Table, world: NDArray[np.int32]) -> Table:
    """Return the table of a world: everything but the sensitive values stays as it is."""
    if table.sensitive_attribute is None or len(table.sensitive) > 1 or table.person is not None:
        raise DiscreetError(
            "worlds are enumerated for persons with one row and one sensitive value each; name one sensitive attribute"
        )
    return replace(table, sensitive=(replace(table.sensitive_attribute, codes=world),))


def reruns(table: Table, publish: Publish, *, among: ArrayLike | None = None, runs: int = 1) -> Reruns:
    """Run a scheme on every world of a small table, ``runs`` times each; one run is exact if it uses no chance.

    Beliefs from several runs count as exact where a world gave a release either always or never.

    With ``among`` only these persons' values are unknown to the adversary, and all others' are known.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> table, promise = patients(), dc.LDiversity(2)
    >>> release = dc.publish(table, promise, dc.Mondrian())
    >>> known = reruns(table, lambda world: dc.publish(world, promise, dc.Mondrian()), among=[0, 1, 2])
    >>> known.posterior(content(release)).chances.sum(axis=1).tolist() == [1.0] * table.rows
    True
    """
    everything = list(worlds(table, among))
    found: dict[Hashable, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    refusal: DiscreetError | None = None
    for at, world in enumerate(everything):
        for _ in range(runs):
            try:
                found[content(publish(with_values(table, world)))][at] += 1
            except DiscreetError as error:  # whatever was published, it was not from this world
                refusal = error
    if not found and refusal:
        raise refusal
    return Reruns(np.array(everything), runs, dict(found), len(table.prior_counts))


def rejected(
    draws: Iterable[NDArray[np.int32]], produce: Callable[[NDArray[np.int32]], Hashable], seen: Hashable, values: int
) -> Posterior | None:
    """Return what is believed after ``seen``, from worlds drawn at random, of which those are rejected that give
    something else; None if all are.

    The draws must be independent, each world as likely as the adversary takes it to be before the release. ``produce``
    gives what would be seen of a world, drawing its own chance.

    >>> coins = np.random.default_rng(1).integers(2, size=(1000, 2), dtype=np.int32)
    >>> posterior = rejected(coins, lambda world: int(world.sum()), 1, 2)
    >>> bool(abs(posterior.chances[0, 0] - 0.5) < 4 * posterior.errors[0, 0])
    True
    """
    accepted = [world for world in draws if produce(world) == seen]
    if not accepted:
        return None
    chances = _shares(np.array(accepted), np.ones(len(accepted)), values)
    return Posterior(chances, standard_errors(chances, len(accepted)), len(accepted))


def rearranged(table: Table, among: ArrayLike, number: int, rng: np.random.Generator) -> Iterator[NDArray[np.int32]]:
    """Yield worlds drawn at random in which the persons ``among`` exchange their values.

    >>> from discreet.datasets import patients
    >>> one = next(rearranged(patients(), [0, 1, 2], 1, np.random.default_rng(1)))
    >>> sorted(one.tolist()) == sorted(patients().sensitive_codes.tolist())
    True
    """
    rows = np.asarray(among, np.int64)
    for _ in range(number):
        world = table.sensitive_codes.copy()
        world[rows] = rng.permutation(world[rows])
        yield world


def _weighed(found: NDArray[np.int32], times: NDArray[np.float64], runs: int, values: int) -> Posterior:
    """The belief from worlds and how many of their runs gave the release; exact if it was all of them each time."""
    chances, matches = _shares(found, times, values), int(times.sum())
    by_chance = bool((times < runs).any())
    return Posterior(chances, standard_errors(chances, matches) if by_chance else np.zeros_like(chances), matches)


def _shares(found: NDArray[np.int32], times: NDArray[np.float64], values: int) -> NDArray[np.float64]:
    totals = np.zeros((found.shape[1], values))
    for world, weight in zip(found, times, strict=True):
        totals[np.arange(len(world)), world] += weight
    return np.asarray(totals / times.sum())
