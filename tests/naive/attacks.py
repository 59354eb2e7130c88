"""Attacks by their definitions: person by person, and value by value."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import permutations, product
from typing import Any, NamedTuple

import numpy as np

from discreet.releases import Release
from discreet.table.table import Table

Believe = Callable[[int], Sequence[float]]
"""The beliefs about the person of a row of the original, one per value of the release."""


class Outcome(NamedTuple):
    """What came of guessing."""

    successes: int
    strongest: float
    """The strongest belief that came true, 0 if none did."""
    row: int | None
    """Whom it was about."""


def shown(value: Any) -> Any:
    """A value as it can be compared between an original and a release: a missing number is equal to itself."""
    number = isinstance(value, (int, float)) or hasattr(value, "dtype")
    return ("missing" if math.isnan(value) else float(value)) if number else str(value)


def sensitive_columns(table: Table) -> list[Any]:
    """The sensitive value of every row."""
    column = table.sensitive[0]
    return [shown(column.values[code]) for code in column.codes]


def outcome(release: Release, table: Table, believe: Believe, victims: Sequence[int] | None = None) -> Outcome:
    """Guess of every victim the value believed in most, the first if there are several."""
    values = [shown(value) for value in release.values.tolist()]
    truth = sensitive_columns(table)
    successes, strongest, row = 0, 0.0, None
    for victim in range(table.rows) if victims is None else victims:
        beliefs = list(believe(victim))
        guess = next(at for at, belief in enumerate(beliefs) if belief >= max(beliefs) - 1e-12)
        if values[guess] == truth[victim]:
            successes += 1
            if beliefs[guess] > strongest:
                strongest, row = beliefs[guess], victim
    return Outcome(successes, strongest, row)


def withheld(release: Release, table: Table) -> list[int] | None:
    """How often each value of the release is missing from it, where it counts its values."""
    if release.published is None:
        return None
    truth = sensitive_columns(table)
    return [
        truth.count(shown(value)) - int(often)
        for value, often in zip(release.values.tolist(), release.published.tolist(), strict=True)
    ]


def told(release: Release, table: Table) -> Believe:
    """What the release says about each person, asked one by one."""
    left = withheld(release, table)
    truth = sensitive_columns(table)

    def believe(row: int) -> list[float]:
        point = {column.name: [column.values[column.codes[row]]] for column in table.quasi}
        (line,) = release.beliefs(point, left).tolist()
        if any(math.isnan(belief) for belief in line):
            return [truth.count(shown(value)) / len(truth) for value in release.values.tolist()]
        return list(line)

    return believe


# ------------------------------------------------------------------------------------------------------- naive Bayes


def admits(text: str, value: Any) -> bool:
    """Whether a published text admits a value: a number or interval of numbers, a name or set of names, or anything."""
    if text == "*":
        return True
    if text.startswith("["):
        low, high = text[1:-1].split(", ")
        return float(low) <= value <= float(high)
    return str(value) in text.strip("{}").split(", ")


def bayes(
    rows: Sequence[tuple[dict[str, str], Any]],
    prior: dict[Any, float],
    person: dict[str, Any],
    known: dict[str, list[Any]],
    *,
    correction: float,
    spread: bool,
) -> dict[Any, float]:
    """The weights of the values for a person, given the published rows: their texts and their sensitive value.

    ``known`` are the values of each quasi-identifier that anybody has. All weights are 0 if no value is possible.
    """
    weights = {}
    for sensitive_attribute, share in prior.items():
        own = [texts for texts, value in rows if value == sensitive_attribute]
        weight = share
        for name, value in person.items():
            count = 0.0
            for texts in own:
                if admits(texts[name], value):
                    count += 1 / sum(admits(texts[name], other) for other in known[name]) if spread else 1
            below = len(own) + correction * len(known[name])
            weight *= (count + correction) / below if below else 0.0
        weights[sensitive_attribute] = weight
    return weights


# --------------------------------------------------------------------------------------------- groups, row by row


def share_in_group(groups: Sequence[int], truth: Sequence[Any], row: int, value: Any) -> float:
    """The share of a value among the rows that are in the same group as a row."""
    members = [truth[other] for other in range(len(groups)) if groups[other] == groups[row]]
    return members.count(value) / len(members)


def likeliest(groups: Sequence[int], truth: Sequence[Any], row: int, claims: Sequence[set[Any]]) -> set[Any]:
    """The first of the claims, each a set of values, that most of the rows in a row's group make true."""
    shares = [sum(share_in_group(groups, truth, row, value) for value in claim) for claim in claims]
    return next(claim for claim, share in zip(claims, shares, strict=True) if share >= max(shares) - 1e-12)


def dealt(groups: Sequence[int], truth: Sequence[Any], known: set[int], row: int, value: Any) -> float:
    """The share of all ways to deal the values of a row's group to its members, true of those known, that give it one.

    Every way to deal is looked at, so that groups have to be small.
    """
    members = [other for other in range(len(groups)) if groups[other] == groups[row]]
    values = [truth[member] for member in members]
    ways = [
        dict(zip(members, way, strict=True))
        for way in permutations(values)
        if all(own == truth[member] for member, own in zip(members, way, strict=True) if member in known)
    ]
    return sum(way[row] == value for way in ways) / len(ways)


# --------------------------------------------------------------------------------------------------------- deFinetti


def definetti(
    points: Sequence[tuple[Any, ...]], groups: Sequence[int], truth: Sequence[Any], sizes: Sequence[int], steps: int
) -> list[dict[Any, float]]:
    """The probability of each value for each row of the published groups, after so many steps; ``truth`` is only
    counted by groups, and ``sizes`` says how many values each quasi-identifier has."""
    rows, values = range(len(points)), sorted(set(truth))
    held = {(group, value): 0 for group in groups for value in values}
    for row in rows:
        held[groups[row], truth[row]] += 1

    def scaled(likely: Callable[[int, Any], float]) -> list[dict[Any, float]]:
        found = [{value: likely(row, value) if held[groups[row], value] else 0.0 for value in values} for row in rows]
        for _ in range(8):
            for group in set(groups):
                members = [row for row in rows if groups[row] == group]
                for value in values:
                    total = sum(found[row][value] for row in members)
                    for row in members:
                        found[row][value] *= held[group, value] / total if total else 0.0
                for row in members:
                    total = sum(found[row].values())
                    found[row] = {value: one / total for value, one in found[row].items()}
        return found

    found = scaled(lambda row, value: 1.0)
    for _ in range(steps):
        last = found

        def likely(row: int, value: Any, last: list[dict[Any, float]] = last) -> float:
            product = 1.0
            for axis, code in enumerate(points[row]):
                alike = sum(last[other][value] for other in rows if points[other][axis] == code)
                product *= (alike + 1) / (sum(one[value] for one in last) + sizes[axis])
            return product

        found = scaled(likely)
    return found


# -------------------------------------------------------------------------------------------------- a trained attacker


def seen_together(examples: Sequence[tuple[tuple[Any, ...], Any]], point: tuple[Any, ...]) -> dict[Any, float]:
    """The share of each value among the examples with these quasi-identifiers: what any model would learn in the end
    that tells all points apart."""
    own = [value for features, value in examples if features == point]
    return {value: own.count(value) / len(own) for value in set(own)}


# ---------------------------------------------------------------------------------------------------------- presence


def presence_claims(release: Release, table: Table, population: Table) -> tuple[int, int]:
    """The fewest and the most right claims, over all lots, if as many of a population as are in the table are claimed
    to be in it, those believed in most; every group is looked at for every person."""
    lookup = release.lookup()
    names = [attribute.name for attribute in release.quasi]
    everyone = [population.column(name) for name in names]
    holds: list[list[bool]] = [[] for _ in range(population.rows)]
    for group in range(len(lookup.sizes)):
        only = np.zeros(len(lookup.sizes))
        only[group] = 0.5
        for of_person, largest in zip(holds, lookup.find(everyone, only).largest.tolist(), strict=True):
            of_person.append(largest > 0)
    crowds = [sum(of_person[group] for of_person in holds) for group in range(len(lookup.sizes))]
    beliefs = []
    for of_person in holds:
        absent = 1.0
        for group, held in enumerate(of_person):
            if held:
                absent *= 1 - min(1.0, lookup.sizes[group] / crowds[group])
        beliefs.append(round(1 - absent, 12))

    def rows(some: Table) -> list[tuple[Any, ...]]:
        columns = [some.column(name) for name in names]
        return [tuple(shown(column.values[column.codes[row]]) for column in columns) for row in range(some.rows)]

    left = Counter(rows(table))
    inside = []
    for person in rows(population):  # which of several alike is in the table makes no difference
        inside.append(left[person] > 0)
        left[person] -= 1
    ranked = sorted(beliefs, reverse=True)
    last = ranked[table.rows - 1]
    sure = sum(one and belief > last for one, belief in zip(inside, beliefs, strict=True))
    open_ = table.rows - sum(belief > last for belief in beliefs)
    true = sum(one and belief == last for one, belief in zip(inside, beliefs, strict=True))
    false = sum(belief == last for belief in beliefs) - true
    return sure + max(0, open_ - false), sure + min(open_, true)


# ------------------------------------------------------------------------------------------------------ singling out


class Condition(NamedTuple):
    """A predicate by hand: what its group says, and the values that it names."""

    texts: dict[str, str]
    named: dict[str, Any]

    def fits(self, row: dict[str, Any]) -> bool:
        """Whether a row fits it."""
        inside = all(name in self.named or admits(text, row[name]) for name, text in self.texts.items())
        return inside and all(row[name] == value for name, value in self.named.items())

    def weight(self, rows: Sequence[dict[str, Any]]) -> float:
        """The product of the shares of rows, column by column; of no rows as of one."""
        weight = 1.0
        for name in {**self.texts, **self.named}:
            alone = Condition(
                {name: self.texts[name]} if name in self.texts else {},
                {name: self.named[name]} if name in self.named else {},
            )
            weight *= max(1, sum(map(alone.fits, rows))) / len(rows)
        return weight


def ends_of(text: str) -> list[float]:
    """The ends of an interval of numbers."""
    return [float(end) for end in text[1:-1].split(", ")] if text.startswith("[") else []


def conditions(form: str, groups: dict[str, list[dict[str, str]]], sensitive: str) -> list[list[list[Condition]]]:
    """All predicates of a form, from the published lines of each group: per group and axis (of one end or inner value),
    the predicates among which one is drawn. Numbers are whole."""
    result = []
    for lines in groups.values():
        texts = {name: text for name, text in lines[0].items() if name not in ("group", sensitive)}
        intervals = {name: ends_of(text) for name, text in texts.items() if ends_of(text)}
        if form == "value":
            held = Counter(line[sensitive] for line in lines)
            axes = [[Condition(texts, {sensitive: value}) for value, often in held.items() if often == 1]]
        elif form == "corner":
            corners = product(*intervals.values()) if intervals else []
            axes = [[Condition(texts, dict(zip(intervals, corner, strict=True))) for corner in corners]]
        else:
            axes = []
            for name, (low, high) in intervals.items():
                numbers = [low, high] if form == "end" else [float(number) for number in range(int(low) + 1, int(high))]
                axes.append([Condition(texts, {name: number}) for number in numbers])
        axes = [axis for axis in axes if axis]
        if axes:
            result.append(axes)
    return result


class Expected(NamedTuple):
    """What to expect of one predicate of each group, drawn by lot."""

    attempts: int
    alone: float
    successes: float
    spread: float
    """The variance of the successes."""


def singled_out(groups: list[list[list[Condition]]], rows: Sequence[dict[str, Any]], most: float) -> Expected:
    """The mean number of predicates that fit one row, and of those of which at most so many rows are expected."""
    alone = successes = spread = 0.0
    for axes in groups:
        chances = [[0.0, 0.0]]
        for axis in axes:
            for condition in axis:
                one = sum(map(condition.fits, rows)) == 1
                light = condition.weight(rows) * len(rows) <= most
                share = 1 / len(axes) / len(axis)
                chances.append([share * one, share * (one and light)])
        mean_alone, mean = (sum(column) for column in zip(*chances, strict=True))
        alone, successes, spread = alone + mean_alone, successes + mean, spread + mean * (1 - mean)
    return Expected(len(groups), alone, successes, spread)
