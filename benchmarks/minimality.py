"""The adversary who knows the algorithm: what reruns tell beyond what is promised, per scheme, beside the loss.

Toy tables are looked at exactly: persons are placed at random, every table with the given values is published, and all
worlds that give the same release are weighed. In larger tables single groups, or single cuts of lifting, are rerun.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import discreet as dc
from benchmarks.lifted_cuts import small_nodes
from benchmarks.measuring import show
from benchmarks.reruns import Posterior, rearranged, rejected, reruns, with_values
from discreet.adversary.attacks.rerunning import content
from discreet.analyst.loss import ail
from discreet.datasets import census
from discreet.principles import Prior
from discreet.schemes.described import narrow

PROMISES = dc.BetaLikeness(1, "basic"), dc.BetaLikeness(1), dc.LDiversity(2)
FEW, MORE = {"aabbcc": 3}, {"aabbcc": 6, "aaabbcc": 3}
"""The values of toy tables, and how often persons are placed for them: with all schemes; with quick ones."""
RUNS = {
    "lifting": (dc.Lifting(), 10),
    "lifting, blind": (dc.Lifting(lift="blind"), 2),
    "cuts": (dc.Cuts(), 1),
    "cuts, thorough": (dc.Cuts(effort="thorough"), 1),
    "Mondrian": (dc.Mondrian(), 1),
    "BUREL": (dc.Burel(), 40),
}
"""The schemes, and how often each is run on a world: those without chance, or hardly any, once."""
HEADER = ("tables over", "pairs over", "95 % quantile", "worst", "standard error")


class Tally:
    """Beliefs in what is possible, less two standard errors, as multiples of their bounds; each as often as its release
    was seen."""

    def __init__(self) -> None:
        self.seen = self.tables_over = 0
        self.strains: list[NDArray[np.float64]] = []
        self.over: list[NDArray[np.bool_]] = []
        self.errors: list[NDArray[np.float64]] = []
        self.times: list[int] = []

    def add(self, posterior: Posterior, bounds: NDArray[np.float64], times: int = 1) -> None:
        over, possible = posterior.over(bounds), posterior.chances > 0
        surely = replace(posterior, chances=np.maximum(0.0, posterior.chances - 2 * posterior.errors))
        self.seen += times
        self.tables_over += times * bool(over.any())
        self.strains.append(surely.strains(bounds)[possible])
        self.errors.append((posterior.errors / bounds)[possible])
        self.over.append(over[possible])
        self.times.append(times)

    def cells(self) -> tuple[str, ...]:
        if not self.seen:
            return ("",) * len(HEADER)
        weights = np.repeat(self.times, [len(one) for one in self.strains])
        strains, over, errors = (np.concatenate(one) for one in (self.strains, self.over, self.errors))
        order = np.argsort(strains)
        at = np.searchsorted(np.cumsum(weights[order]), 0.95 * weights.sum())
        return (
            f"{self.tables_over / self.seen:.1%}",
            f"{np.average(over, weights=weights):.1%}",
            f"{strains[order[at]]:.2f}",
            f"{strains.max():.2f}",
            f"{np.sqrt(np.average(errors**2, weights=weights)):.3f}",
        )


def main() -> None:
    _toys(FEW, list(RUNS))
    _toys(MORE, ["lifting", "lifting, blind", "cuts", "Mondrian"])
    _groups()
    _cuts()


# ---------------------------------------------------------------------------------------------------------- toy tables


def _toys(places: dict[str, int], names: list[str]) -> None:
    lines = []
    for promise in PROMISES:
        for name in names:
            scheme, runs = RUNS[name]
            tally, losses, number = Tally(), [], 0

            def publish(world: dc.Table, scheme: dc.Scheme = scheme, promise: dc.Principle = promise) -> dc.Release:
                release = narrow(scheme).publish(world, promise)
                losses.append(ail(release))  # noqa: B023
                return release

            for values, times in places.items():
                for seed in range(times):
                    table = _toy(values, seed)
                    bounds = promise.caps(Prior.of(table))
                    known = reruns(table, publish, runs=runs)
                    number += len(known.worlds)
                    for seen in known.found:
                        posterior = known.posterior(seen)
                        tally.add(posterior, bounds, posterior.matches)
            lines.append((promise, name, f"{number:,}", f"{np.mean(losses):.3f}", *tally.cells()))
    title = (
        f"Minimality: all tables with the values {' or '.join(places)} at {sum(places.values())} random places, exactly"
    )
    show(title, ("promise", "scheme", "tables", "AIL", *HEADER), lines)


def _toy(values: str, seed: int) -> dc.Table:
    x, y = np.random.default_rng(seed).integers(0, 10, (2, len(values)))
    return dc.read(pa.table({"x": x, "y": y, "s": list(values)}), quasi=["x", "y"], sensitive="s")


# ------------------------------------------------------------------------------------------------ groups, others known


ROWS, GROUPS, LARGEST, DRAWS = 400, 10, 30, 100
"""How large the table is, how many groups are rerun, up to how many rows they have, and how often."""
QUASI, SECRET = ("age", "gender", "education", "marital", "race"), "work_class"
"""The attributes of larger tables; of the ten values of the sensitive one, the most frequent has 36 % of the rows."""
LARGER = dc.BetaLikeness(1), dc.BetaLikeness(4), dc.LDiversity(2)


def _groups() -> None:
    """Homogeneous groups: the adversary knows the values of all others, and reruns the whole scheme."""
    table = census(ROWS, quasi=QUASI, sensitive=SECRET)
    lines = []
    for promise in LARGER:
        bounds = promise.caps(Prior.of(table))
        for name, scheme in {
            "cuts": dc.Cuts(),
            "Mondrian": dc.Mondrian(),
            "BUREL, seed known": dc.Burel(random_state=1),
        }.items():
            rng = np.random.default_rng(1)
            release = narrow(scheme).publish(table, promise)
            seen = content(release)
            few = np.flatnonzero((release.sizes > 1) & (release.sizes <= LARGEST))
            tally, unseen = Tally(), 0
            for group in rng.permutation(few)[:GROUPS].tolist():
                among = np.flatnonzero(release.trace == group)

                def produce(world: NDArray[np.int32], scheme: dc.Scheme = scheme) -> object:
                    return content(narrow(scheme).publish(with_values(table, world), promise))  # noqa: B023

                posterior = rejected(rearranged(table, among, DRAWS, rng), produce, seen, len(bounds))
                if posterior is None:
                    unseen += 1
                else:
                    tally.add(_of(posterior, among), bounds)
            lines.append((promise, name, tally.seen, unseen, f"{ail(release):.3f}", *tally.cells()))
    title = f"Minimality: single groups of a census of {ROWS:,}, 5 QIs; all others known, {DRAWS} draws"
    show(title, ("promise", "scheme", "groups", "never again", "AIL", "groups over", *HEADER[1:]), lines)


def _of(posterior: Posterior, persons: NDArray[np.int64]) -> Posterior:
    return replace(posterior, chances=posterior.chances[persons], errors=posterior.errors[persons])


# ----------------------------------------------------------------------------------------------------- cuts of lifting


NODES, SMALLEST, WIDEST, WORLDS, MATCHES = 25, 6, 24, 1_500, 100
"""How many nodes are cut again, of how many persons, how often; and how many matches a belief needs."""


def _cuts() -> None:
    """Lifting: whoever knows everything but who of a small node has which of its rows, and cuts it again."""
    table = census(10_000, quasi=QUASI, sensitive=SECRET)
    rows, prior, lines = np.arange(table.rows), Prior.of(table), []
    for promise in LARGER:
        bounds = promise.caps(prior)
        for name in ("lifting", "lifting, blind"):
            scheme, rng = RUNS[name][0], np.random.default_rng(1)
            nursery = scheme.nursery(table, promise, prior, rows)
            tree = nursery.tree(scheme.recipes, rng.permutation(table.rows))
            by_person, by_child, unseen = Tally(), Tally(), 0
            for node in small_nodes(tree, nursery, SMALLEST, WIDEST, rng)[:NODES]:
                posterior = node.posterior(scheme.recipes[0], WORLDS, rng)
                if posterior is None or posterior.matches < MATCHES:
                    unseen += 1
                    continue
                by_person.add(posterior, bounds)
                by_child.add(node.by_child(posterior), bounds)
            lost = ail(narrow(scheme).publish(table, promise))
            for about, tally in (("person", by_person), ("child", by_child)):
                lines.append((promise, name, about, tally.seen, unseen, f"{lost:.3f}", *tally.cells()))
    title = f"Minimality: single cuts of lifting, nodes of {SMALLEST} to {WIDEST} persons of a census of 10,000, 5 QIs"
    show(title, ("promise", "scheme", "belief of a", "nodes", "left out", "AIL", "nodes over", *HEADER[1:]), lines)
