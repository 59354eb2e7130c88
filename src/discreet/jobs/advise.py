"""`advise`: publishes a table in the ways worth considering, at three strengths, and recommends one to each recipient.

Every release is made as `publish` would make it, written to a temporary folder, audited, attacked and removed. A fixed
seed serves for choosing only: to publish, others are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from discreet.analyst.quality import Asked
from discreet.arguments import argument
from discreet.errors import DiscreetError
from discreet.jobs.outputs import tidy
from discreet.jobs.reading import read_table
from discreet.options import checked
from discreet.principles import Principle, Prior, conjunction
from discreet.principles.k_anonymity import KAnonymity
from discreet.progress import Progress, Remark, Remarks, no_progress
from discreet.releases.passthrough import check_kept, check_quasi
from discreet.report.advice import ISOLATION, NAMES, Advice, Candidate, Name, Strength, in_order
from discreet.report.compare import GUESSES, Stages, Trial, temporary_place
from discreet.report.profile import strengths_of
from discreet.report.promised import promised_about
from discreet.schemes import make_scheme
from discreet.schemes.withholding import check_share, check_withheld
from discreet.table.addresses import addressed
from discreet.table.spec import TableSpec
from discreet.table.table import Table, as_table
from discreet.table.texts import MOST_WITHHELD

SEED = 0
"""Of the choice: the same table gets the same advice."""
MOST_ROWS, MANY_VALUES, FEWER_ROWS = 50_000, 5_000, 20_000
"""Of larger tables, this many rows are drawn and published in place of all; fewer if a sensitive attribute has very
many values, which takes longer."""
VICTIMS, FEWEST, BELIEFS = 5_000, 500, 10_000_000
"""How many people are attacked at most and at least, and in how many values about all of them may be believed."""
LEAST = 5
"""How many rows hide each other beside a promise about sensitive values."""
HIDING = (
    *("cuts", "cuts(marginals=one-way)", "cuts(marginals=none)", "cuts(loss=gcp, marginals=one-way)"),
    *("mondrian", "mondrian(marginals=one-way)"),
)
"""The schemes that form groups of a least size."""
OPEN = (
    *("lifting", "lifting(descriptions=exact)", "cuts(descriptions=exact)", "mondrian(descriptions=exact)"),
    *("anatomy", "perturbation", "baseline"),
)
"""Schemes that keep promises about values only."""


@dataclass(frozen=True, eq=False)
class AdviseOutcome:
    """The advice on the table in a file."""

    input: str
    advice: Advice
    remarks: tuple[Remark, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values, for JSON."""
        return {"input": self.input, **self.advice.as_dict()}


def advise_file(
    input: str,
    *,
    reading: Mapping[str, Any] | None = None,
    most_withheld: float = MOST_WITHHELD,
    progress: Progress | None = None,
    remark: Callable[[Remark], None] | None = None,
) -> AdviseOutcome:
    """Advise on the table in a file; ``reading`` has the keys of a job that say how it is read.

    Nothing is printed or published. The callbacks are those of `discreet.jobs.carry_out.carry_out`.
    """
    remarks, progress = Remarks(remark), progress or no_progress
    spec = TableSpec.of(reading or {})
    tidy(temporary_place(), remarks)
    progress("reading", 0.0)
    table, _, on_reading = read_table(input, spec, remarks)
    remarks.extend(on_reading)
    return AdviseOutcome(
        addressed(input), advise(table, most_withheld=most_withheld, progress=progress), tuple(remarks.made)
    )


def advise(table: Table, *, most_withheld: float = MOST_WITHHELD, progress: Progress | None = None) -> Advice:
    """Advise which promise to make about a table, by which scheme, for the open web, researchers and colleagues.

    Three strengths of the promises that fit are tried, each by several schemes. Of a large table a sample is published.
    The advice is the same each time, but for the seconds.

    >>> from discreet.datasets import patients
    >>> for each in advise(patients()).recommendations:
    ...     print(each.recipient, each.release.promise, sep=": ")
    open web: k-anonymity(k=5) & l-diversity(l=4.4)
    registered researchers: k-anonymity(k=5) & l-diversity(l=4)
    colleagues under contract: l-diversity(l=2)
    """
    table, progress = as_table(table), checked("progress", progress, Progress | None) or no_progress
    if not table.rows:
        raise DiscreetError("the table has no rows, so there is nothing to advise on; check the input")
    if not table.quasi:
        quasi = argument("quasi", ["age"])
        raise DiscreetError(f"the table has no quasi-identifiers; name those that others may know, as in {quasi}")
    check_kept(table)
    check_quasi(table)
    check_share(most_withheld)
    check_withheld(table, 0 if table.unusable is None else len(table.unusable), most_withheld)
    progress("counting", 0.0)
    made = _sample(table)
    work = _Work(table, made, Asked.of(made), progress)
    return Advice(
        table.rows,
        table.persons,
        made.rows,
        table.quasi_names,
        tuple(column.name for column in table.sensitive),
        work.asked.baseline_error(made),
        tuple(work.strengths()),
    )


def _sample(table: Table) -> Table:
    """Return the table, or some of its rows if it has many: all rows of some persons."""
    many = any(len(column.values) > MANY_VALUES for column in table.sensitive)
    most = FEWER_ROWS if many else MOST_ROWS
    if table.rows <= most:
        return table
    random = np.random.default_rng(SEED)
    if table.person is None:
        return table.reordered(np.sort(random.choice(table.rows, most, replace=False)))
    chosen = np.zeros(table.persons, np.bool_)
    chosen[random.choice(table.persons, max(1, table.persons * most // table.rows), replace=False)] = True
    return table.reordered(np.flatnonzero(chosen[table.person]))


@dataclass
class _Work:
    """The releases to make of a table."""

    table: Table
    made: Table
    """The table, or the sample of it that is published."""
    asked: Asked
    progress: Progress

    @property
    def victims(self) -> int:
        """How many people are attacked: fewer where there are very many values to believe in."""
        return max(FEWEST, min(VICTIMS, BELIEFS // max((len(each.values) for each in self.made.sensitive), default=1)))

    def strengths(self) -> Iterator[Strength]:
        """Yield each strength with its releases; those that are no different from a stronger one are left out."""
        found: dict[Principle, Name] = {}
        for name, promise in zip(NAMES, strengths_of(self.table), strict=True):
            found.setdefault(promise, name)
        tried = [(promise, self._hidden(promise)) for promise in found]
        total = sum(len(HIDING) + len(OPEN) * (promise != hidden) for promise, hidden in tried)
        done = 0
        for promise, hidden in tried:
            strength = Strength(found[promise], str(promise), str(hidden), tuple(self._sentences(promise)), ())
            trials = [(scheme, hidden) for scheme in HIDING]
            trials += [(scheme, promise) for scheme in OPEN] if promise != hidden else []
            yield self._tried(strength, trials, hidden, done, total)
            done += len(trials)

    def _hidden(self, promise: Principle) -> Principle:
        """Return a promise with one about the sizes of groups, if it has none."""
        if not promise.about_values:
            return promise
        return conjunction([KAnonymity(min(LEAST, self.made.persons)), promise])

    def _sentences(self, promise: Principle) -> Iterator[str]:
        """Yield what a promise means, with numbers of the whole table."""
        if not promise.about_values:
            prior = Prior.of(self.table) if self.table.person is None else Prior.of_persons(self.table)
            yield from filter(None, (part.plainly(prior) for part in promise.parts))
            return
        for found in promised_about(promise.parts, {each.name: Prior.of_column(each) for each in self.table.sensitive}):
            yield found.sentence or " ".join(found.meanings)

    def _tried(
        self, strength: Strength, trials: list[tuple[str, Principle]], hidden: Principle, done: int, total: int
    ) -> Strength:
        """Return a strength with the releases that hold, and why others could not be made."""
        candidates: dict[tuple[Any, ...], Candidate] = {}
        refusals, failures = dict[str, str](), dict[str, Exception]()
        for at, (text, promise) in enumerate(trials):
            stages = Stages(self.progress, f"{text}, {promise}", done + at, total)
            scheme, asked = make_scheme(text, random_state=SEED), self.asked
            trial = Trial(
                *(text, scheme, self.made, promise, (), asked.queries, asked.exact, SEED, stages),
                guesses=(*GUESSES, ISOLATION),
                victims=self.victims,
            )
            result = trial.result()
            if result.refusal is not None and result.unsuited is None:
                refusals[text] = result.refusal
            for fault in list(result.errors.values())[:1]:
                failures[text] = fault
            if result.audit is not None and result.audit.holds:
                found = Candidate.of(result, hidden=promise == hidden)
                alike = replace(found, scheme="", seconds=0.0)  # other options need not make another release
                candidates.setdefault((alike,), found)
        return replace(strength, candidates=in_order(list(candidates.values())), refusals=refusals, failures=failures)
