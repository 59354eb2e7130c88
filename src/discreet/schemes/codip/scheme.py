"""CODIP: a table with several sensitive attributes published as several tables, each with some of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np

from discreet.catalogue import SCHEMES
from discreet.errors import DiscreetError
from discreet.kernels.annealing import SLACK
from discreet.principles.per_attribute import Promised, concerned, stated
from discreet.principles.principle import Principle, together
from discreet.principles.prior import Prior
from discreet.principles.wording import exact, listed
from discreet.progress import Progress
from discreet.randomness import generator
from discreet.releases.projected.release import ProjectedRelease
from discreet.releases.release import Release
from discreet.schemes.codip.plans import STEPS, chosen, frontier, merged
from discreet.schemes.keepers import for_several, keeper, not_of_groups, way_out
from discreet.schemes.scheme import Scheme, feasible
from discreet.table.dependency import Dependency, Plan, dependency, harmless_values, sensitive_shares
from discreet.table.table import Table

Search = Literal["best", "paper"]
DEFAULT = "default"
ROUNDS = 5
"""How often tables are published anew because they withheld different rows."""


@dataclass(frozen=True, kw_only=True)
class Codip(Scheme):
    """Sensitive attributes are divided among several tables, which another scheme then publishes one by one.

    "CODIP: Complete Disjoint Projections": whoever knows one sensitive value of a person finds the others beside it
    if they are in the same table, and the fewer attributes a table has, the finer its groups can be. What is lost is
    the association between attributes of different tables. A plan is therefore judged by two ratios (see
    ``table.dependency``), and attributes that tell much about each other are kept together.

    Why the promise is kept: each table is a release of its own, made and confirmed by a scheme that keeps the promise
    about all sensitive attributes of that table; the order of a table and the numbers of its groups follow from what it
    publishes by itself. This bounds what each table tells. Together they tell no more about any one attribute to
    whoever takes attributes of different tables to be independent given the quasi-identifiers. Whoever knows which of
    their values go together may learn more where the groups of different tables overlap in part; with ``aligned=True``
    all tables have the same groups, so that nobody is narrowed down to fewer persons by intersecting them.

    The same argument holds for tables of other formats: what a table tells about its attributes was made from their
    values, the quasi-identifiers and draws of its own, so for whoever takes attributes of different tables to be
    independent given the quasi-identifiers it says nothing about the attributes of others. This covers sealed tables,
    too: each is made in one run, as no rows are withheld, and which tables there are does not depend on what the runs
    found. Two formats are refused. Tables that hide who is in them are undone by others of the
    same people, whose lists can be intersected. And where only a trace of matches tells whose row may be whose, nothing
    could be confirmed.

    >>> import discreet as dc
    >>> from discreet.datasets import census_arrow
    >>> table = dc.read(census_arrow(500), quasi=["age", "gender"], sensitive=["salary", "occupation"])
    >>> len(Codip(exposure=0, random_state=1).publish(table, dc.LDiversity(3)).parts)
    2
    """

    name: ClassVar[str] = "codip"
    format: ClassVar[type[ProjectedRelease]] = ProjectedRelease
    several: ClassVar[bool] = True

    exposure: float = 0.2
    """The largest Information Exposure Ratio (the paper's beta): 0 gives every attribute a table, 1 allows one."""
    association: float = 1.0
    """The largest Association Loss Ratio (the paper's alpha)."""
    scheme: str = DEFAULT
    """The scheme that publishes each table, by default that of the promise; with options as in
    ``cuts:effort=thorough,loss=gcp``. One that protects a single attribute gives every attribute a table."""
    search: Search = "best"
    """``paper``: the merges of CODIP*, Figure 4. ``best``: the least association loss among all plans, or among those
    that a search finds where there are too many (more than ten attributes); never more than the paper's."""
    aligned: bool = False
    """Whether all tables have the same groups."""
    steps: int = STEPS
    """How many steps the search among plans of many attributes takes: as many find the same plan however busy the
    machine is, and more never find a worse one."""
    harmless: str = ""
    """Values that are not sensitive and expose nothing, such as ``disease=none; job=not known``."""
    random_state: int | None = None
    """A seed, for experiments only; by default, randomness comes from the operating system."""

    def __post_init__(self) -> None:
        """Raise an error for invalid parameters."""
        super().__post_init__()
        for name in ("exposure", "association"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise DiscreetError(f"{name}={getattr(self, name)!r} is not a ratio; give a number from 0 to 1")
        if self.steps < 0:
            raise DiscreetError(f"steps={self.steps!r} is not a number of steps; give one such as {STEPS}")
        if self._named()[0] == self.name:
            raise DiscreetError("scheme='codip' cannot publish the tables of scheme 'codip'; choose another")
        if self._named()[0] != DEFAULT:
            self._made()
        harmless_values(self.harmless)

    @property
    def options(self) -> dict[str, Any]:
        """The parameters, as written to the manifest."""
        return {
            "exposure": self.exposure,
            "association": self.association,
            "scheme": self._written(),
            "search": self.search,
            "aligned": self.aligned,
            "steps": self.steps,
            "harmless": "; ".join(
                f"{name}={value}"
                for name, values in harmless_values(self.harmless).items()
                for value in dict.fromkeys(values)
            ),
        }

    def check_words(self, table: Table) -> None:
        """Raise an error if values are said to be harmless that no sensitive attribute has."""
        sensitive_shares(table.sensitive, harmless_values(self.harmless))

    @property
    def holds_for_one_run(self) -> bool:
        """Whether the tables are made by a scheme whose promise covers one run only."""
        name = self._named()[0]
        return name is not None and name in SCHEMES and SCHEMES[name].one_run

    def inner(self, principle: Principle, part: tuple[int, ...] = ()) -> Any:
        """Return the scheme that publishes the table with some attributes; each table gets draws of its own."""
        state = None
        if self.random_state is not None:
            state = int(np.random.SeedSequence([self.random_state % 2**64, *part]).generate_state(1)[0])
        return self._made(principle, state)

    def _made(self, principle: Principle | None = None, state: int | None = None) -> Any:
        """Return the scheme that publishes tables; the promise decides which, unless it is named."""
        from discreet.schemes import make_scheme

        name, options = self._named()
        if name == DEFAULT and principle is not None:
            name = keeper(principle)
            name = "cuts" if name == "ambiguity" else name
        return make_scheme(name, options, state, principle)

    def _written(self) -> str:
        """Return the scheme that publishes tables, and its options, in one way of writing them."""
        name, options = self._named()
        return f"{name}{':' if options else ''}{','.join(f'{key}={value}' for key, value in options.items())}"

    def _named(self) -> tuple[str | None, dict[str, str]]:
        """Return the name of the scheme that publishes tables, and its options."""
        name, _, rest = self.scheme.partition(":")
        pairs = (text.partition("=") for text in filter(None, map(str.strip, rest.split(","))))
        return name.strip(), {key.strip(): value.strip() for key, _, value in pairs}

    def refusal(self, principle: Principle, prior: Prior) -> str | None:
        """Refuse promises about presence, and what the scheme of the tables refuses."""
        if any(part.most_presence < 1.0 for part in principle.parts):
            return (
                f"scheme {self.name!r} publishes several tables, which together may tell more about who is in them "
                f"than each by itself; {way_out(principle)}"
            )
        inner = self.inner(principle)
        refusal: str | None = not_of_groups(self.name, principle) or inner.refusal(principle, prior)
        if refusal is not None:
            return refusal
        if inner.makes.hides_presence:
            return (
                f"scheme {self.name!r} publishes several tables of the same people, whose lists together tell who is "
                f"in them, which scheme {inner.name!r} is there to hide; it protects several attributes in one "
                f"release: choose scheme {inner.name!r} itself"
            )
        if inner.makes.promises_by_trace:
            return (
                f"of what scheme {inner.name!r} publishes with these options only a trace of matches tells whose row "
                f"may be whose, and scheme {self.name!r} has none of several tables; leave its options out, or "
                f"{way_out(principle)}"
            )
        if self.aligned and type(inner).on_groups is Scheme.on_groups:
            return (
                f"aligned=True puts all tables on one partition, and scheme {inner.name!r} publishes none that was "
                f"made for others; say aligned=False, or {way_out(principle)}"
            )
        return None

    def refusal_of_several(self, principle: Principle, each: Sequence[Promised]) -> str | None:
        """Refuse what a table with any one attribute could not keep."""
        refusals = (for_several(self.refusal(one.promise, one.prior), one.promise, principle) for one in each)
        return next((refusal for refusal in refusals if refusal is not None), None)

    def publish(self, table: Table, principle: Principle, progress: Progress | None = None) -> ProjectedRelease:
        """Return a projected release of the table in which every group of every table keeps the promise."""
        if not table.sensitive:
            raise DiscreetError(f"scheme {self.name!r} divides sensitive attributes, and the table has none; name some")
        feasible(self, table, principle)
        found = dependency(table.sensitive, harmless_values(self.harmless))
        for _ in range(ROUNDS):
            work = _Work(self, table, principle, progress)
            plan = self._aligned(work, found) if self.aligned else self._planned(work, found)
            parts = [work.published[part] for part in plan]
            withheld = np.column_stack([part.trace < 0 for part in parts if part.trace is not None])
            if bool((withheld.all(axis=1) == withheld.any(axis=1)).all()):
                break
            table = replace(table, unusable=np.flatnonzero(withheld.any(axis=1)))
        else:
            raise DiscreetError(
                "the rows that must be withheld keep the promise about no set of attributes at once; treat missing as "
                "a value of its own instead"
            )
        return ProjectedRelease.from_parts(
            parts,
            promise=stated(principle, table),
            scheme=self.name,
            options=self.options,
            sensitive=[column.name for column in table.sensitive],
            seeded=self.random_state is not None,
        )

    # ------------------------------------------------------------------------------------------------- choosing a plan

    def _planned(self, work: _Work, found: Dependency) -> Plan:
        """Return a plan within both ratios whose tables have been published."""

        def possible(plan: Plan) -> bool:
            return all(map(work.can_publish, plan))

        return self._within(possible, work, found)

    def _aligned(self, work: _Work, found: Dependency) -> Plan:
        """Return the plan within both ratios, its tables published on one partition that keeps the whole promise."""
        plan = self._within(lambda plan: True, work, found)
        work.publish_aligned(plan)
        return plan

    def _within(self, possible: Callable[[Plan], bool], work: _Work, found: Dependency) -> Plan:
        """Return the plan that the search finds; raise an error if it loses more association than allowed."""
        if self.search == "best":
            plan = chosen(found, possible, self.exposure, steps=self.steps)
        else:
            way = merged(found, lambda plan: found.exposure(plan) <= self.exposure + SLACK and possible(plan))
            plan = way[-1] if way else None
        if plan is None:
            raise work.refusal()
        loss = found.association_loss(plan)
        if loss <= self.association + SLACK:
            return plan
        least = self._least_exposure(found, possible)
        raise DiscreetError(
            f"no plan was found that exposes at most {exact(self.exposure)} and loses at most "
            f"{exact(self.association)} of the association between {listed(map(repr, found.names))}; ask for "
            f"association={_above(loss)}{'' if least is None else f', or for exposure={_above(least)}'}"
        )

    def _least_exposure(self, found: Dependency, possible: Callable[[Plan], bool]) -> float | None:
        """Return an exposure at which this search finds a plan that loses little enough; None if there is none."""

        def kept(plan: Plan) -> bool:
            return found.association_loss(plan) <= self.association + SLACK

        if self.search == "best":
            plans = sorted(filter(kept, frontier(found, self.steps)), key=found.exposure)
            return next((found.exposure(plan) for plan in plans if possible(plan)), None)
        way = merged(found, possible)  # which stops at the first plan that exposes too much
        enough = next((at for at, plan in enumerate(way) if kept(plan)), None)
        return None if enough is None else max(map(found.exposure, way[: enough + 1]))


@dataclass
class _Work:
    """The tables of plans, each published when it is first needed."""

    scheme: Codip
    table: Table
    principle: Principle
    progress: Progress | None
    published: dict[tuple[int, ...], Release] = field(default_factory=dict)
    refused: dict[tuple[int, ...], DiscreetError] = field(default_factory=dict)

    def can_publish(self, part: tuple[int, ...]) -> bool:
        """Publish a table with these attributes; return whether that is possible."""
        if part not in self.published and part not in self.refused:
            projected = self.projected(part)
            promise = _about(self.principle, projected)
            try:
                self.published[part] = self.scheme.inner(promise, part).publish(projected, promise, self.progress)
            except DiscreetError as refusal:
                self.refused[part] = refusal
        return part in self.published

    def publish_aligned(self, plan: Plan) -> None:
        """Publish all tables of a plan on one partition, which keeps the promise about every attribute."""
        inner = self.scheme.inner(self.principle, tuple(range(len(self.table.sensitive))))
        whole = inner.publish(self.table, self.principle, self.progress)
        for part in plan:
            projected = self.projected(part)
            state = self.scheme.inner(self.principle, (len(self.table.sensitive), *part)).random_state
            promise, seeded = _about(self.principle, projected), None if state is None else generator(state)
            self.published[part] = inner.on_groups(projected, whole.trace, promise, seeded)

    def projected(self, part: tuple[int, ...]) -> Table:
        """Return the table with some of its sensitive attributes; that with the first also has what is kept along."""
        some = tuple(self.table.sensitive[at] for at in part)
        return replace(self.table, sensitive=some, other=self.table.other if 0 in part else ())

    def refusal(self) -> DiscreetError:
        """Return why there is no plan."""
        part, reason = min(self.refused.items(), key=lambda item: len(item[0]))
        names = listed(repr(self.table.sensitive[at].name) for at in part)
        return DiscreetError(f"no plan can be published, as a table with {names} cannot: {reason}")


def _about(principle: Principle, table: Table) -> Principle:
    """Return the part of a promise that is about this table."""
    priors = [Prior.of_column(column) for column in table.sensitive]
    return together([part for part in principle.parts if any(concerned(part, priors))])


def _above(ratio: float) -> str:
    """Return a ratio rounded up, so that asking for it is enough."""
    return exact(min(1.0, math.ceil(ratio * 1000.0) / 1000.0))
