"""How often sensitive values can be guessed: by scheme and promise, beside no release and the original itself."""

from __future__ import annotations

import math
import sys
import time
from functools import partial
from typing import Any

import discreet as dc
from benchmarks import adult
from benchmarks.measuring import processor_seconds, publish, show
from discreet.datasets import census
from discreet.datasets.census import LIKENESS_QUASI

BETAS = (1, 2, 4)
LIKENESS = ("burel", "heterogeneous", "mondrian", "cuts", "lifting", "perturbation")
GUESSES = (
    "beliefs",
    "naive-bayes",
    "naive-bayes(correction=1)",
    "naive-bayes(box=spread)",
    "naive-bayes(correction=1, box=spread)",
    "definetti",
    "trained",
)


def main() -> None:
    table = census(100_000)
    _by_beta(f"census, {table.rows:,} rows, 3 QIs, salary", table)
    if not adult.DATA.is_dir():
        print("\nAdult is not here (looked in shared/data beside the project): not measured.")
        return
    people = adult.read()
    _by_beta(f"Adult, {people.rows:,} rows, 8 QIs, occupation", people)
    lines = []
    for l in (2, 3, 5, 7):  # noqa: E741
        found = dc.attack(publish(people, f"l-diversity(l={l})", "anatomy"), people, ["beliefs", "definetti"])
        lines.append((l, *(f"{100 * one.rate:.1f}" for one in found.evidence), f"{100 / l:.1f}"))
    show("Anatomy on Adult, in %: deFinetti by l", ("l", "beliefs", "deFinetti", "allowed"), lines)
    _presence(people)
    times()


def _presence(people: dc.Table) -> None:
    """Who is in the table, and how often ends of intervals are somebody's values."""
    promises = {
        "beta-likeness(beta=2)": ("cuts", "mondrian", "burel", "heterogeneous", "lifting", "perturbation"),
        "alpha-beta(alpha=0.2, beta=0.5)": ("ambiguity", "cuts", "mondrian", "burel"),
        "alpha-beta(alpha=0.2, beta=0.5, presence=combined, association=combined)": ("ambiguity", "cuts", "mondrian"),
    }
    lines = []
    for promise, schemes in promises.items():
        for scheme in schemes:
            found = dc.attack(publish(people, promise, scheme), people, ["presence", "corners"], random_state=1)
            told = {one.attack: one for one in found.evidence}
            ends, who = told.get("corners"), told["presence"]
            cells = ("-", "-", "-") if ends is None else (ends.rate, ends.baseline, ends.bound or "-")
            percents = (f"{100 * one:.1f}" if isinstance(one, float) else one for one in cells)
            lines.append((promise, scheme, f"{100 * who.rate:.1f}", *percents))
    header = ("promise", "scheme", "presence (by chance 50)", "ends are somebody's", "any combination", "allowed")
    show(f"Presence on Adult, {people.rows:,} rows, 8 QIs, success in %", header, lines)


def _by_beta(title: str, table: dc.Table) -> None:
    """One line for each scheme and attack: the success in % for every beta."""
    lines: list[tuple[object, ...]] = []
    original: dict[str, str] = {}
    baseline = 0.0
    for scheme in LIKENESS:
        rates: dict[str, list[str]] = {guess: [] for guess in GUESSES}
        for beta in BETAS:
            found = dc.attack(publish(table, f"beta-likeness(beta={beta})", scheme), table, GUESSES, random_state=1)
            told = {one.attack: one for one in found.evidence}
            for guess in GUESSES:
                one = told.get(guess)
                rates[guess].append("-" if one is None else f"{100 * one.rate:.2f}")
                if one is not None and one.ceiling is not None:
                    original[guess], baseline = f"{100 * one.ceiling:.2f}", one.baseline
        lines += [(scheme, guess, *rates[guess]) for guess in GUESSES if rates[guess] != ["-"] * len(BETAS)]
    rates = {guess: [] for guess in GUESSES}
    for beta in BETAS:
        drawn = publish(table, dc.DifferentialPrivacy(math.log1p(beta)), dc.PrivBayes(domains="observed"))
        told = {one.attack: one for one in dc.attack(drawn, table, GUESSES, random_state=1).evidence}
        for guess in told:
            rates[guess].append(f"{100 * told[guess].rate:.2f}")
    lines += [("privbayes, epsilon = ln(1 + beta)", guess, *found) for guess, found in rates.items() if found]
    lines += [("(the original)", guess, *[rate] * len(BETAS)) for guess, rate in original.items()]
    header = ("scheme", "attack", *(f"beta={beta}" for beta in BETAS))
    show(f"Attacks, success in %: {title}; without a release {100 * baseline:.2f}", header, lines)


def times() -> None:
    """How long each attack takes on 500,000 rows; every line is told as soon as it is known."""
    table = census(500_000, quasi=LIKENESS_QUASI)
    made = {
        "cuts": publish(table, "beta-likeness(beta=2)", "cuts"),
        "anatomy": publish(table, "l-diversity(l=10)", "anatomy"),
    }
    lines = []
    for scheme, release in made.items():
        others = [other for name, other in made.items() if name != scheme]
        for guess in (
            "beliefs",
            "naive-bayes",
            "definetti",
            "trained",
            "similarity",
            "corruption",
            "composition",
            "intersection",
            "presence",
            "corners",
        ):
            combined = others if guess in ("composition", "intersection") else []
            lines.append((scheme, guess, *_time(release, table, guess, others=combined)))
        known = _time(release, table, "minimality", trace=release.trace)
        lines.append((scheme, "minimality, groups known", *known))
    header = ("scheme", "attack", "processor time", "elapsed")
    show("Attacks on 500,000 rows, 5 QIs, salary", header, lines)


def _time(release: dc.Release, table: dc.Table, guess: str, **how: Any) -> tuple[str, str]:
    """The time of one attack, after a small one that compiles what it needs."""
    small = guess if guess != "minimality" else "minimality(runs=1)"
    try:
        dc.attack(release, table, small, victims=1000, **how)
    except dc.DiscreetError:
        return "-", "-"
    start = time.perf_counter()
    spent = processor_seconds(partial(dc.attack, release, table, guess, **how))
    told = f"{spent:.1f} s", f"{time.perf_counter() - start:.1f} s"
    print(f"{release.format}, {guess}: {told[0]} of the processor, {told[1]} elapsed", file=sys.stderr, flush=True)
    return told
