"""Findings as functions of measurements: each claim gives a verdict, with its figures and one sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.principles.wording import listed

Record = dict[str, Any]
"""What was measured of one method at one place: ``x``, ``method``, and a number for each measure; or ``refused``."""
Records = Sequence[Record]


@dataclass(frozen=True)
class Verdict:
    """Whether a finding holds here; None where too little could be measured to say."""

    holds: bool | None
    sentence: str
    figures: dict[str, float] = field(default_factory=dict)


Claim = Callable[[Records], Verdict]


def judged(claims: Sequence[Claim], records: Records, because: str = "") -> Verdict:
    """All claims together; where one fails, the sentence ends with the reason."""
    each = [claim(records) for claim in claims]
    holds = None if any(one.holds is None for one in each) else all(one.holds for one in each)
    figures = {name: value for one in each for name, value in one.figures.items()}
    said = "; ".join(one.sentence for one in each)
    return Verdict(holds, f"{said}. {because}".strip() if because and holds is False else f"{said}.", figures)


def series(records: Records, measure: str, method: str) -> dict[Any, float]:
    """A measure of a method by place, without places where it has none."""
    found = {one["x"]: one.get(measure) for one in records if one["method"] == method}
    return {place: value for place, value in found.items() if value is not None and not math.isnan(value)}


def below(measure: str, method: str, others: Sequence[str], factor: float = 1.0) -> Claim:
    """At every place the method has at most ``factor`` times the measure of each other one that has any there."""

    def claim(records: Records) -> Verdict:
        mine = series(records, measure, method)
        pairs = [
            (mine[place] / value if value else math.inf if mine[place] else 1.0, place, other)
            for other in others
            for place, value in series(records, measure, other).items()
            if place in mine
        ]
        if not pairs:
            return Verdict(None, f"nothing could be compared with {method}")
        kept = sum(ratio <= factor * (1 + 1e-9) for ratio, _, _ in pairs)
        worst, place, other = max(pairs, key=lambda pair: pair[0])
        than = "no more" if factor == 1.0 else f"at most {factor:g} times the {measure}"
        figures = {f"{measure}: worst ratio of {method}": worst, f"{measure}: comparisons kept": kept / len(pairs)}
        said = (
            f"{method} has {than} than {listed(list(others))} in {kept} of {len(pairs)} comparisons of {measure} "
            f"(worst: {worst:.3g} times {other}'s at {place})"
        )
        return Verdict(kept == len(pairs), said, figures)

    return claim


def trend(measure: str, methods: Sequence[str], *, falls: bool) -> Claim:
    """At the last place the measure of each method is less than at the first, or more."""

    def claim(records: Records) -> Verdict:
        against, figures = [], {}
        for method in methods:
            values = list(series(records, measure, method).values())
            if len(values) < 2:
                continue
            ratio = values[-1] / values[0] if values[0] else 1.0 if not values[-1] else math.inf
            figures[f"{measure}: last by first of {method}"] = ratio
            if not (ratio < 1 if falls else ratio > 1):
                against.append(method)
        way = "falls" if falls else "rises"
        if not figures:
            return Verdict(None, f"no method was measured at two places, so {measure} neither falls nor rises")
        said = f"{measure} {way} for {listed(methods)}" if not against else f"{measure} {way} not for {listed(against)}"
        return Verdict(not against, said, figures)

    return claim


def flat(measure: str, methods: Sequence[str], factor: float) -> Claim:
    """The largest value of a method is at most ``factor`` times its smallest."""

    def claim(records: Records) -> Verdict:
        figures = {}
        for method in methods:
            values = list(series(records, measure, method).values())
            if values:
                figures[f"{measure}: largest by smallest of {method}"] = (
                    max(values) / min(values) if min(values) else 1.0 if not max(values) else math.inf
                )
        if not figures:
            return Verdict(None, f"{measure} of {listed(methods)} was not measured")
        worst = max(figures.values())
        said = f"{measure} of {listed(methods)} changes by a factor of {worst:.3g} at most (at most {factor:g} wanted)"
        return Verdict(worst <= factor, said, figures)

    return claim


def within(measure: str, method: str, most: float, least: float = 0.0) -> Claim:
    """At every place the measure of a method lies between two bounds."""

    def claim(records: Records) -> Verdict:
        values = list(series(records, measure, method).values())
        if not values:
            return Verdict(None, f"{measure} of {method} was not measured")
        low, high = min(values), max(values)
        bounds = f"at most {most:g}" if not least else f"{least:g} to {most:g}"
        said = f"{measure} of {method} is {low:.3g} to {high:.3g} (the paper: {bounds})"
        figures = {f"{measure}: least of {method}": low, f"{measure}: most of {method}": high}
        return Verdict(least <= low and high <= most, said, figures)

    return claim


def peaks(measure: str, method: str) -> Claim:
    """The measure of a method is largest at a place that is neither the first nor the last."""

    def claim(records: Records) -> Verdict:
        found = series(records, measure, method)
        if len(found) < 3:
            return Verdict(None, f"{measure} of {method} was not measured at three places")
        places = list(found)
        best = max(places, key=lambda place: found[place])
        figures = {f"{measure}: most of {method}": found[best], f"{measure}: place of the most": float(best)}
        return Verdict(
            best not in (places[0], places[-1]) and found[best] > max(found[places[0]], found[places[-1]]),
            f"{measure} of {method} is largest at {best} ({found[best]:.3g}; {found[places[0]]:.3g} at {places[0]}, "
            f"{found[places[-1]]:.3g} at {places[-1]})",
            figures,
        )

    return claim


def at(places: Sequence[Any], claim: Claim) -> Claim:
    """A claim about some places only."""

    def limited(records: Records) -> Verdict:
        verdict = claim([record for record in records if record["x"] in places])
        return replace(verdict, sentence=f"{verdict.sentence} (at {listed(map(str, places))})")

    return limited
