"""CODIP: a table with several sensitive attributes published as several tables, each with some of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from discreet.catalogue import SCHEMES
from discreet.errors import DiscreetError
from discreet.expressions import Form, form_of
from discreet.families.codip.kernels.annealing import SLACK
from discreet.families.codip.plans import STEPS, chosen, frontier, merged, plan_given, tables_given
from discreet.families.codip.release import ProjectedRelease
from discreet.options import Interval, brief
from discreet.principles.per_attribute import concerned, stated
from discreet.principles.principle import Principle, conjunction
from discreet.principles.prior import Prior
from discreet.principles.wording import listed
from discreet.progress import Progress
from discreet.releases.release import Release
from discreet.schemes.default_scheme import bounds_presence, keeper
from discreet.schemes.described import narrow
from discreet.schemes.refusal import Refusal, not_of_groups
from discreet.schemes.scheme import EXAMPLE, GivenGroups, Scheme, feasible, make_scheme
from discreet.table.dependency import Dependency, Plan, dependency, harmless_values, sensitive_shares
from discreet.table.table import Table
from discreet.table.texts import number_text

PlanSearch = Literal["best", "paper"]
Ratio = Annotated[float, Interval(0, 1)]
DEFAULT = "default"
SEARCHED = ("exposure", "association", "search", "steps")
"""The parameters that choose a plan, and say nothing of one that is given."""
ROUNDS = 5
"""How often tables are published anew because they withheld different rows."""


@dataclass(frozen=True, kw_only=True)
class Codip(Scheme):
    """Sensitive attributes are divided among several tables, which another scheme then publishes one by one.

    "CODIP: Complete Disjoint Projections": an attacker who knows one sensitive value of a person finds the others
    beside it if they are in the same table, and the fewer attributes a table has, the finer its groups can be. What is
    lost is the association between attributes of different tables. A plan is therefore judged by two ratios (see
    ``table.dependency``), and attributes that tell much about each other are kept together.

    Why the promise is kept: each table is a release of its own, made and confirmed by a scheme that keeps the promise
    about all sensitive attributes of that table; the order of a table and the numbers of its groups follow from what
    it publishes by itself. This bounds what each table tells. Together they tell no more about any one attribute to an
    adversary who takes attributes of different tables to be independent given the quasi-identifiers. One who knows
    which of their values go together may learn more where the groups of different tables overlap in part; with
    ``aligned=True`` all tables have the same groups, so that nobody is narrowed down to fewer persons by intersecting
    them.

    The same argument holds for tables of other formats: a table was made from the values of its attributes, the
    quasi-identifiers and draws of its own, so that, given the quasi-identifiers, it says nothing about independent
    attributes of other tables. This covers sealed tables, too: each is made in one run, as no rows are withheld, and
    which tables there are does not depend on what the runs found. Two formats are refused. Tables that hide who is in
    them are undone by others of the same people, whose lists can be intersected. And where only a trace of matches
    tells whose row may be whose, nothing could be confirmed.

    >>> import discreet as dc
    >>> from discreet.datasets import census_arrow
    >>> table = dc.read(census_arrow(500), quasi=["age", "gender"], sensitive=["salary", "occupation"])
    >>> len(Codip(exposure=0, random_state=1).publish(table, dc.LDiversity(3)).parts)
    2
    """

    name: ClassVar[str] = "codip"
    published: ClassVar[Mapping[str, str]] = {"scheme": "incognito", "search": "paper"}
    format: ClassVar[type[ProjectedRelease]] = ProjectedRelease
    several: ClassVar[bool] = True

    exposure: Ratio = 0.2
    """The largest Information Exposure Ratio (the paper's beta), from 0 to 1. With 0, each attribute is published in a
    table of its own; with 1, all attributes may share a single table."""
    association: Ratio = 1.0
    """The largest Association Loss Ratio (the paper's alpha)."""
    scheme: str = DEFAULT
    """The scheme that publishes each table, by default that of the promise; with options as in
    ``cuts(effort=thorough, loss=gcp)``. One that protects a single attribute gives every attribute a table."""
    search: PlanSearch = "best"
    """``paper``: the merges of CODIP*, Figure 4. ``best``: the least association loss among all plans, or among those
    that a search finds where there are too many (more than ten attributes); never more than the paper's."""
    aligned: bool = False
    """Whether all tables have the same groups."""
    steps: Annotated[int, Interval(0)] = STEPS
    """How many steps the search among plans of many attributes takes: as many find the same plan however busy the
    machine is, and more never find a worse one."""
    harmless: str = ""
    """Values that are not sensitive and expose nothing, such as ``disease=none; job=not known``."""
    plan: str = ""
    """The tables, instead of a search for them: the names of all sensitive attributes, with commas between the
    attributes of a table and bars between tables, as in ``ill, drug | job``."""

    def __post_init__(self) -> None:
        """Raise an error for invalid parameters."""
        super().__post_init__()
        name, given = self._named()
        if name == self.name:
            raise DiscreetError("scheme='codip' cannot publish the tables of scheme 'codip'; choose another")
        if name != DEFAULT:
            self._made()
        elif given:
            raise DiscreetError(
                f"codip: scheme={brief(self.scheme)} says options of no scheme; name it, as in {EXAMPLE}"
            )
        harmless_values(self.harmless)
        if self.plan:
            tables_given(self.plan)
            for key in SEARCHED:
                if (value := getattr(self, key)) != getattr(type(self), key):
                    raise DiscreetError(
                        f"codip: plan={brief(self.plan)} says which tables there are, and {key}={value} would choose "
                        "them; leave out one of the two",
                        key,
                    )

    @property
    def options(self) -> dict[str, Any]:
        """The parameters, as written to the manifest: those that choose a plan, or the plan."""
        harmless = "; ".join(
            f"{name}={value}"
            for name, values in harmless_values(self.harmless).items()
            for value in dict.fromkeys(values)
        )
        scheme = DEFAULT if self._named().name == DEFAULT else str(self._made())
        options = {**super().options, "scheme": scheme, "harmless": harmless}
        if not self.plan:
            return {name: value for name, value in options.items() if name != "plan"}
        plan = " | ".join(map(", ".join, tables_given(self.plan)))
        return {**{name: value for name, value in options.items() if name not in SEARCHED}, "plan": plan}

    def check_words(self, table: Table) -> None:
        """Raise an error if values are said to be harmless, or attributes planned, that the table does not have."""
        sensitive_shares(table.sensitive, harmless_values(self.harmless))
        if self.plan:
            plan_given(self.plan, [column.name for column in table.sensitive])

    @property
    def holds_for_one_run(self) -> bool:
        """Whether the promise of the scheme that makes the tables covers one run only."""
        name = self._named()[0]
        return name in SCHEMES and bool(SCHEMES[name].one_run)

    def inner(self, principle: Principle, part: tuple[int, ...] = ()) -> Any:
        """Return the scheme that publishes the table with some attributes; each table gets draws of its own."""
        state = None
        if self.random_state is not None:
            state = int(np.random.SeedSequence([self.random_state % 2**64, *part]).generate_state(1)[0])
        scheme = self._made(principle, state)
        inner: Any = narrow(scheme)
        return replace(inner, marginals="none") if hasattr(inner, "marginals") else inner

    def _made(self, principle: Principle | None = None, state: int | None = None) -> Any:
        """Return the scheme that publishes tables; the promise decides which, unless it is named."""
        name, options = self._named()
        if name == DEFAULT and principle is not None:
            kept_by = keeper(principle)
            return make_scheme("cuts" if kept_by == "ambiguity" else kept_by, options, state, principle)
        scheme = make_scheme(name, options, state, principle)
        if getattr(scheme, "counts_columns", False):
            raise DiscreetError(f"{self.name}: its tables have no counts of quasi-identifiers; say marginals=none")
        if getattr(scheme, "snap", False) is True:
            raise DiscreetError(f"{self.name}: intervals of its tables are as narrow as possible; say snap=false")
        return scheme

    def _named(self) -> Form:
        """Return the name of the scheme that publishes tables, and its options."""
        return form_of(self.scheme, "scheme", EXAMPLE)

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Refuse promises about presence, and what the scheme of the tables refuses."""
        if bounds_presence(principle):
            return Refusal(
                f"scheme {self.name!r} publishes several tables, which together may tell more about who is in them "
                f"than each by itself",
                principle,
            )
        inner = self.inner(principle)
        refusal: Refusal | None = not_of_groups(self.name, principle) or inner.refusal(principle, prior)
        if refusal is not None:
            return refusal
        if (reason := inner.makes.refusal_as_part()) is not None:
            return Refusal(
                f"scheme {self.name!r} publishes several tables of the same people, and a release of scheme "
                f"{inner.name!r} cannot be one of them, because {reason}",
                principle,
                f"choose scheme {inner.name!r} itself, leave its options out",
            )
        if self.aligned and not isinstance(inner, GivenGroups):
            return Refusal(
                f"aligned=True publishes all tables on one partition, and scheme {inner.name!r} cannot publish one "
                "that it is given",
                principle,
                "say aligned=False",
            )
        return None

    refusal_of_several = Scheme.refusal_of_any

    def release_of(self, table: Table, principle: Principle, progress: Progress | None = None) -> ProjectedRelease:
        """Return a projected release of the table in which every group of every table keeps the promise."""
        if not table.sensitive:
            raise DiscreetError(f"scheme {self.name!r} divides sensitive attributes, and the table has none; name some")
        self.check_words(table)
        feasible(self, table, principle)
        dependence = dependency(table.sensitive, harmless_values(self.harmless))
        for _ in range(ROUNDS):
            work = _Work(self, table, principle, progress)
            plan = self._plan(work, dependence)
            if self.aligned:
                work.publish_aligned(plan)
            parts = [work.published[part] for part in plan]
            withheld = np.column_stack([part.trace < 0 for part in parts if part.trace is not None])
            if bool((withheld.all(axis=1) == withheld.any(axis=1)).all()):
                break
            table = replace(table, unusable=np.flatnonzero(withheld.any(axis=1)))
        else:
            raise DiscreetError(
                "no set of withheld rows was found that keeps the promise about all attributes at once; treat missing "
                "as a value of its own instead"
            )
        statement = self.statement(stated(principle, table))
        return ProjectedRelease.from_parts(parts, sensitive=[column.name for column in table.sensitive], **statement)

    def _plan(self, work: _Work, dependence: Dependency) -> Plan:
        """Return the plan that is given or found; raise an error if what is found loses more association than allowed.

        Its tables have been published, unless they are to be aligned, which is possible with any plan.
        """

        def possible(plan: Plan) -> bool:
            return self.aligned or all(map(work.can_publish, plan))

        if self.plan:
            given = plan_given(self.plan, dependence.names)
            if not possible(given):
                raise work.refusal("the plan that was given")
            return given
        if self.search == "best":
            plan = chosen(dependence, possible, self.exposure, steps=self.steps)
        else:
            way = merged(dependence, lambda plan: dependence.exposure(plan) <= self.exposure + SLACK and possible(plan))
            plan = way[-1] if way else None
        if plan is None:
            raise work.refusal()
        loss = dependence.association_loss(plan)
        if loss <= self.association + SLACK:
            return plan
        least = self._least_exposure(dependence, possible)
        raise DiscreetError(
            f"no plan was found that exposes at most {number_text(self.exposure)} and loses at most "
            f"{number_text(self.association)} of the association between {listed(map(repr, dependence.names))}; ask "
            f"for association={_above(loss)}{'' if least is None else f', or for exposure={_above(least)}'}"
        )

    def _least_exposure(self, dependence: Dependency, possible: Callable[[Plan], bool]) -> float | None:
        """Return an exposure at which this search finds a plan that loses little enough; None if there is none."""

        def kept(plan: Plan) -> bool:
            return dependence.association_loss(plan) <= self.association + SLACK

        if self.search == "best":
            plans = sorted(filter(kept, frontier(dependence, self.steps)), key=dependence.exposure)
            return next((dependence.exposure(plan) for plan in plans if possible(plan)), None)
        way = merged(dependence, possible)  # which stops at the first plan that exposes too much
        enough = next((at for at, plan in enumerate(way) if kept(plan)), None)
        return None if enough is None else max(map(dependence.exposure, way[: enough + 1]))


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
            projected, promise = self.projected(part)
            try:
                self.published[part] = self.scheme.inner(promise, part).publish(projected, promise, self.progress)
            except DiscreetError as refusal:
                self.refused[part] = refusal
        return part in self.published

    def publish_aligned(self, plan: Plan) -> None:
        """Publish all tables of a plan on one partition, which keeps the promise about every attribute."""
        inner = self.scheme.inner(self.principle, tuple(range(len(self.table.sensitive))))
        assert isinstance(inner, GivenGroups), "others are refused"
        whole = inner.publish(self.table, self.principle, self.progress)
        assert whole.trace is not None, "it was just made"
        for part in plan:
            projected, promise = self.projected(part)
            self.published[part] = inner.on_groups(projected, whole.trace, promise)

    def projected(self, part: tuple[int, ...]) -> tuple[Table, Principle]:
        """Return the table with some of its sensitive attributes, and the part of the promise that is about it; that
        with the first attribute also has what is published unchanged."""
        some = tuple(self.table.sensitive[at] for at in part)
        priors = [Prior.of_column(column) for column in some]
        promise = conjunction([single for single in self.principle.parts if any(concerned(single, priors))])
        return replace(self.table, sensitive=some, other=self.table.other if 0 in part else ()), promise

    def refusal(self, which: str = "no plan") -> DiscreetError:
        """Return why a plan cannot be published, or none at all."""
        part, reason = min(self.refused.items(), key=lambda item: len(item[0]))
        names = listed(repr(self.table.sensitive[at].name) for at in part)
        can = "can" if which == "no plan" else "cannot"
        return DiscreetError(f"{which} {can} be published, as a table with {names} cannot: {reason}")


def _above(ratio: float) -> str:
    """Return a ratio rounded up, so that asking for it is enough."""
    return number_text(min(1.0, math.ceil(ratio * 1000.0) / 1000.0))
