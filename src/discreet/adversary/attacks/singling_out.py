"""Singling out: conditions made from a release alone that fit exactly one person, though hardly anybody by chance.

The attacker knows nobody. From the files alone predicates are made, one of each group, each of which claims that
exactly one row of the original fits it (`discreet.adversary.predicates` has their forms). That counts as a
success only if the predicate is *light*: of the rows of the table at most ``expected`` would fit it by chance, 0.01 if
nothing else is said. Three runs tell what the release adds:

    main      predicates from the release, tried on the original
    control   half of the table is published by the same scheme under the same promise, and what it gives is tried on
              the other half: as much as a release of a similar table tells, and as much as weights are wrong
    baseline  as many predicates of the same form without a release, around values drawn column by column

To isolate a person by a predicate of little weight is the notion of Cohen and Nissim ("Towards formalizing the GDPR's
notion of singling out", PNAS 2020). Promises about groups do not bound it: k-anonymity is about boxes, and not about
boxes and one of their ends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.adversary.attacks.attack import Attack
from discreet.adversary.attacks.evidence import Evidence, wilson
from discreet.adversary.attacks.rerunning import known_scheme
from discreet.adversary.attacks.target import Target, opened
from discreet.adversary.checks.manifest import stated_promise
from discreet.adversary.predicates import Form, Ground, Source, Tried
from discreet.errors import DiscreetError
from discreet.options import Interval
from discreet.principles.wording import percent
from discreet.releases.release import Release

WORDS: dict[Form, str] = {
    "end": "in a group's box, and at an end of one of its intervals",
    "inner": "in a group's box, and at a value inside one of its intervals",
    "corner": "in a group's box, and at an end of each of its intervals",
    "value": "in a group's box, with a sensitive value that occurs once in the group",
    "row": "with all values of a published row",
}


class Half(NamedTuple):
    """A release of half of a table, by the scheme and under the promise of another release."""

    release: Release | None
    others: NDArray[np.bool_]
    """Per row of the table: whether it is in the other half."""
    reason: str = ""
    """Why there is none."""


@dataclass(frozen=True)
class SinglingOut(Attack):
    """Claim of conditions from the release, which hardly anybody fits by chance, that exactly one person does.

    >>> import discreet as dc
    >>> from discreet.datasets import census
    >>> table = census(500, seed=1)
    >>> attack = dc.SinglingOut("end", expected=1)
    >>> found = dc.attack(dc.publish(table, dc.KAnonymity(2), "mondrian"), table, attack, random_state=1).evidence[0]
    >>> found.rate > found.baseline
    True
    """

    name: ClassVar[str] = "singling-out"
    about_values: ClassVar[bool] = False
    judged: ClassVar[bool] = False

    form: Form | None = None
    """What the conditions are: a group's box and an ``end`` of an interval, an ``inner`` value of it, a ``corner`` of
    ends, or a sensitive ``value`` that the group has once; or a published ``row``. By default each that can be made."""
    expected: Annotated[float, Interval(0)] = 0.01
    """How many rows of the table may be expected to fit a predicate by chance, so that it counts."""

    def against(self, target: Target) -> tuple[Attack, ...]:
        """One for each form that can be made of the release, unless one is named."""
        forms = (self.form,) if self.form is not None else _source(target).forms
        return tuple(replace(self, form=form) for form in forms) or (self,)

    def refusal(self, target: Target) -> str | None:
        """Predicates of the form have to follow from the release."""
        source = _source(target)
        if self.form in source.forms:
            return None
        if source.described is None and source.named:
            return "quasi-identifiers are not published in boxes; say form=row"
        if self.form == "row":
            return "no row is published with its quasi-identifiers as they are"
        if self.form == "value":
            return "no sensitive value occurs exactly once in a group with a box"
        if self.form == "inner" and source.described is not None and bool(source.ends.any()):
            return "no interval has a value inside that a reader could name"
        if source.described is not None:
            return "no group is published with an interval of several values, nor with a sensitive value of its own"
        return "neither rows nor boxes are published, so that there is nothing to make conditions of"

    def measure(self, target: Target, ceiling: Target | None = None, outsiders: Target | None = None) -> Evidence:
        """Try predicates from the release, from a release of half of the table, and from no release."""
        assert self.form is not None, "refused otherwise"
        ground = Ground.of(target.release, target.original, target.population)
        boxes = _source(target, ground).made(self.form)
        target.tell(0.1)
        main = ground.tried(boxes, self.expected)
        baseline = ground.tried(ground.guessed(boxes, target.random), self.expected)
        target.tell(0.3)
        half, control = _half(target), None
        if half.release is not None:
            source = Source(half.release, ground.columns, target.random)
            if self.form in source.forms:
                control = ground.tried(source.made(self.form), self.expected, half.others[ground.rows])
            else:
                half = half._replace(reason="none of this form follow from a release of half of the table")
        target.tell(0.8)
        exact = Source(opened(target.release, target.original), ground.columns, target.random)
        best = ground.tried(exact.made("row"), self.expected)
        return Evidence(
            str(self),
            "that exactly one row fits it, as hardly any would by chance,",
            of="predicates",
            victims=main.attempts,
            successes=main.successes,
            baseline=baseline.rate,
            ceiling=best.rate,
            redrawn=main.expected / max(1, main.attempts),
            details={
                "form": self.form,
                "main": _figures(main),
                "control": None if control is None else _figures(control),
                "baseline": _figures(baseline),
            },
            remark=self._remark(main, control, baseline, half.reason),
        )

    def _remark(self, main: Tried, control: Tried | None, baseline: Tried, reason: str) -> str:
        """The three runs in sentences."""
        assert self.form is not None, "refused otherwise"
        tested = reason if control is None else _text(control)
        text = (
            f"A predicate says: {WORDS[self.form]}. {main.alone:,} fit exactly one row, {main.light:,} are so "
            f"improbable that at most {self.expected:g} rows would fit by chance, and both are true of {_text(main)}."
        )
        if not main.light:
            text += " That does not mean that nobody is singled out: a larger value of 'expected' counts more of them."
        return (
            f"{text} Control, from a release of half of the table, tried on the other half: {tested}. Baseline, drawn "
            f"without a release: {_text(baseline)}."
        )


def _figures(tried: Tried) -> dict[str, Any]:
    """What came of predicates, ready for JSON."""
    return {**tried._asdict(), "rate": tried.rate, "interval": list(wilson(tried.successes, tried.attempts))}


def _text(tried: Tried) -> str:
    """The successes in words, with the 95 % interval of their share."""
    low, high = wilson(tried.successes, tried.attempts)
    interval = f"95 % interval {percent(low)} to {percent(high)}"
    return f"{tried.successes:,} of {tried.attempts:,} ({percent(tried.rate)}, {interval})"


def _source(target: Target, ground: Ground | None = None) -> Source:
    """What predicates can be made from."""
    if ground is None:
        ground = Ground.of(target.release, target.original, None)
    return Source(target.release, ground.columns, target.random)


def _half(target: Target) -> Half:
    """Half of the table, published again; once for all forms."""
    if "half" not in target.remembered:
        target.remembered["half"] = _published(target)
    half: Half = target.remembered["half"]
    return half


def _published(target: Target) -> Half:
    """Publish half of the table as the release says that it was published; persons stay together."""
    whole = target.original if target.context is None else target.context.original
    person = np.arange(whole.rows) if whole.person is None else whole.person
    lot = target.random.permutation(int(person.max(initial=-1)) + 1)
    others = lot[person] >= len(lot) // 2
    scheme: Any = known_scheme(target)
    promise = stated_promise(target.release.manifest.get("promise"))
    if scheme is None or promise is None:
        return Half(None, others, "none, as the scheme that the manifest names, or its promise, is not known here")
    scheme = replace(scheme, random_state=int(target.random.integers(2**31)))
    try:
        release = scheme.publish(whole.reordered(np.flatnonzero(~others)), promise)
        return Half(release.about(target.sensitive_attribute.name).revealed(whole), others)
    except DiscreetError as refusal:
        return Half(None, others, f"none, as half of the table is refused ({refusal})")
