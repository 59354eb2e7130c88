"""More effort on a partition: many recipes, look-ahead, partitioning neighbours anew, moving and exchanging rows.

Every step starts from the best partition so far and replaces it, or a part of it, only by a cheaper one. The first step
tries every family of cuts by itself and the recipe of ``effort=fast``, so the result is never worse than any of these.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from discreet.kernels.cuts.terms import BUCKETED, PLAIN, REPAIRED, STRATIFIED, Recipe
from discreet.processors import threads
from discreet.progress import Progress
from discreet.schemes.cuts.exchange import settle_rows
from discreet.schemes.cuts.regrouping import regroup
from discreet.schemes.cuts.top_down import Partition, Problem, partition, partition_ahead

FAMILIES = PLAIN, STRATIFIED, BUCKETED, REPAIRED
STAGES = 6
"""How often rows are settled while groups are regrouped: groups that are settled are cut again in other ways."""
EVERYWHERE = 2**62
"""A ``plain_above`` larger than any group."""


def fast_recipe(families: int) -> Recipe:
    """Return the recipe of ``effort=fast``: in large groups plain cuts as long as there are any, below all families.

    Positions, caution and the size from which plain cuts come first were tuned on Adult and on a census of 300,000
    rows; no single choice is best everywhere, which is why ``effort=thorough`` exists.
    """
    return Recipe(families, 7, 1, 0.3, 10_000, False)


def recipes(families: int) -> list[Recipe]:
    """Return the recipes tried first: every family by itself, and all of them together with other settings."""
    alone = [fast_recipe(family) for family in FAMILIES if families & family]
    mixed = [
        Recipe(families, 15, 1, caution, plain_above, False)
        for caution in (0.0, 0.2, 0.5)
        for plain_above in (0, 10_000, EVERYWHERE)
    ]
    return alone + mixed


def partition_thoroughly(
    problem: Problem, families: int, fast: Recipe, rng: np.random.Generator, *, progress: Progress | None = None
) -> Partition:
    """Return the cheapest partition found by many attempts, never worse than that of the recipe ``fast``.

    The time is that of about a hundred passes, and bounded: on large tables look-ahead is limited to groups of at most
    30,000 rows, and regrouping to ten million rows in total.
    """
    tell = progress or (lambda stage, share: None)
    candidates = [fast, *recipes(families)]
    best, temper = partition(problem, fast), fast
    tried = best
    for done, recipe in enumerate(candidates[1:], start=1):
        tell("trying recipes", done / len(candidates))
        result = partition(problem, recipe)
        tried = min(tried, result, key=problem.published_cost)
        if result.cost < best.cost:
            best, temper = result, recipe
    tell("looking ahead", 0.0)

    def ahead(caution: float) -> Partition:
        recipe = Recipe(families, 15, 3, caution, temper.plain_above, False)
        quick = Recipe(families, 5, 1, caution, temper.plain_above, False)
        return partition_ahead(problem, recipe, quick, many=6, below=30_000)

    with ThreadPoolExecutor(threads()) as pool:
        best = min([best, *pool.map(ahead, (0.2, 0.5))], key=lambda result: result.cost)
    budget = min(90 * len(problem.classes), 10_000_000)
    for stage in range(STAGES):

        def share(name: str, done: float, stage: int = stage) -> None:
            tell(name, (stage + done) / STAGES)

        best = regroup(problem, best, families, rng, budget=budget // STAGES, progress=share)
        best = settle_rows(problem, best, 10 * budget)
    # the search overestimates the cost of sets, so the published cost decides
    return min(tried, best, key=problem.published_cost)
