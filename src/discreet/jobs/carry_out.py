"""`carry_out`: turns a file into an audited release in its place, as a job says."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from discreet.adversary.audit import Audit, audit
from discreet.adversary.group_sizes import SMALL, GroupSizes
from discreet.analyst.quality import Quality, quality
from discreet.arguments import argument
from discreet.disk import naming, uninterrupted
from discreet.errors import DiscreetError, MissingParameterError
from discreet.expressions import form_of, split
from discreet.jobs.job import Job
from discreet.jobs.outputs import check_output, check_trace, tidy
from discreet.jobs.publish import publish
from discreet.jobs.reading import read_input
from discreet.principles import Principle, Prior, conjunction, parse
from discreet.principles.per_attribute import on_numbers
from discreet.principles.wording import counted
from discreet.progress import Progress, Remark, Remarks, no_progress
from discreet.releases.assumptions import FOR_RECIPIENTS
from discreet.releases.grid import FEW, unit_if_any
from discreet.releases.passthrough import check_kept, check_quasi, kept_assumptions
from discreet.releases.placement import enter_file, manifest_digest, place
from discreet.releases.release import Release
from discreet.releases.trace import check_of_people, fill_trace
from discreet.schemes import Scheme, make_scheme
from discreet.schemes.default_scheme import bounds_presence
from discreet.table.notes import formulas
from discreet.table.table import Table
from discreet.unfinished import settle, unfinished

if TYPE_CHECKING:
    from discreet.jobs.deposit import Deposit


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a job."""

    job: Job
    table: Table
    scheme: dict[str, Any]
    """The scheme and its options, as the manifest has them."""
    trace: NDArray[Any] | None
    """Private: the group of every input row."""
    audit: Audit
    quality: Quality
    """How good counts from the release are: for the publisher, as it follows from the original, too."""
    sizes: GroupSizes | None
    """How small its groups are, and whom ends of intervals single out, if it has any that people hide in."""
    left_out: list[str]
    """Columns of the input that are not published."""
    remarks: tuple[Remark, ...]
    seconds: dict[str, float]

    @property
    def notes(self) -> list[str]:
        """What stays true of the release: how columns were read, which are randomised, and what is certain."""
        return [remark.sentence for remark in self.remarks if remark.about in ("columns", "randomised", "certain")]

    def as_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values, for JSON."""
        held = self.audit.holds
        return {
            **self.audit.as_dict(),
            "folder": self.job.output if held else None,
            **({} if self.job.output_table is None else {"table": self.job.output_table if held else None}),
            "trace": self.job.trace if held else None,
            "scheme": self.scheme,
            "missing": 0 if self.table.unusable is None else len(self.table.unusable),
            "counts": self.quality.as_dict(),
            "group_sizes": None if self.sizes is None else self.sizes.as_dict(),
            "left_out": self.left_out,
            "notes": self.notes,
            "seconds": {stage: round(seconds, 3) for stage, seconds in self.seconds.items()},
        }


def carry_out(job: Job, *, progress: Progress | None = None, remark: Callable[[Remark], None] | None = None) -> Outcome:
    """Read, publish, save beside the target, audit the saved files, and move them into place if the audit holds.

    Nothing is printed. ``progress`` may raise `discreet.progress.Cancelled`, which leaves nothing behind; ``remark`` is
    called with each remark as soon as it is due. The outcome has all remarks.
    """
    if job.engine != "memory":
        raise DiscreetError(f"carry_out publishes in memory; call carry_out_large for the engine {job.engine}")
    remarks = Remarks(remark)
    deposit = _deposit(job, remarks)
    target = check_output(job.output, job.force, job.files, remarks) if deposit is None else deposit.staging
    trace = None if job.trace is None else check_trace(job.trace, target, job.force, job.files, remarks)
    before = manifest_digest(target) if deposit is None else deposit.check()
    promise = _promise(job)
    scheme = make_scheme(job.scheme, job.options, job.seed, promise)
    if trace is not None:
        check_of_people(scheme.makes)
    remarks("caution", *cautions(job, scheme, trace, before))
    return _Work(job, target, deposit, trace, before, promise, scheme, remarks, progress or no_progress).outcome()


@dataclass
class _Work:
    """A job whose promise, scheme and places have been checked."""

    job: Job
    target: Path
    """The folder, or what the files are staged beside, if the release goes into a database."""
    deposit: Deposit | None
    trace: Path | None
    before: str | None
    """The digest of the manifest of the release that is replaced, if there is one."""
    promise: Principle
    scheme: Scheme
    remarks: Remarks
    progress: Progress

    def outcome(self) -> Outcome:
        """Do the work."""
        job, promise, clock = self.job, self.promise, _Clock()
        self.progress("reading", 0.0)
        table, left_out, on_reading = read_input(job, self.remarks)
        check_kept(table)  # refuse before the work begins
        check_quasi(table)
        on_table = list(_on_table(job, promise, table))
        clock.lap("read")
        release = publish(table, promise, self.scheme, progress=self.progress, most_withheld=job.most_withheld)
        presence, randomised = list(_presence(release)), list(_randomised(release))
        ends = list(_ends(self.scheme, promise, release, table))
        clock.lap("publish")
        self.target.parent.mkdir(parents=True, exist_ok=True)
        staged_trace = nullcontext() if self.trace is None else unfinished(self.trace)
        with unfinished(self.target) as staged, staged_trace as private:
            self._save(release, staged, private)
            clock.lap("save")
            described, groups = release.manifest["scheme"], release.trace
            sizes, good = GroupSizes.of(release, table), quality(release, table)
            clock.lap("estimate")
            del release  # an audit reads the files, and needs the memory
            self.progress("auditing", 0.0)
            audited = audit(staged, table, trace=groups, promises=promise, progress=self.progress)
            clock.lap("audit")
            if audited.holds:
                self._place(staged, private)
        self.remarks.extend(on_reading)
        self.remarks("promise", *on_table)
        self.remarks("randomised", *randomised)
        self.remarks("certain", *presence, *_certain(promise, table, audited))
        self.remarks("groups", *ends, *_small(promise, sizes), *_beyond_groups(promise, audited))
        remarks = tuple(self.remarks.made)
        return Outcome(job, table, described, groups, audited, good, sizes, left_out, remarks, clock.laps)

    def _save(self, release: Release, staged: Path, private: Path | None) -> None:
        """Write the release, and the trace if there is one, beside their places."""
        self.progress("saving", 0.0)
        release.save(staged, self.job.format, audit=False)  # the next stage is the audit
        if private is not None:
            with naming(str(self.trace)):
                fill_trace(release, private)

    def _place(self, staged: Path, private: Path | None) -> None:
        """Move the release, and the trace if there is one, into their places."""
        pair = None if self.trace is None or private is None else (private, self.trace)
        if self.deposit is not None:
            self.deposit.place(staged, self.before, self.remarks)
            if pair is not None:
                self._enter_trace(*pair)
        else:
            with uninterrupted():
                place(staged, self.target, self.before, self.job.force, pair)
                settle(self.target)
        for path in filter(None, (self.target, self.trace)):
            tidy(path, self.remarks)

    def _enter_trace(self, fresh: Path, target: Path) -> None:
        """Move the trace into its place when the release is in the database, where nothing can be taken back."""
        try:
            enter_file(fresh, target, self.job.force)
        except (DiscreetError, OSError) as fault:
            raise DiscreetError(
                f"the release is in {self.job.place}, but its trace cannot be put into its place: {fault}"
            ) from fault


def _deposit(job: Job, remarks: Remarks) -> Deposit | None:
    """Return the place of a release in a database, if it goes into one."""
    if job.output_table is None:
        return None
    from discreet.jobs.deposit import check_deposit  # imported late: most releases are folders

    return check_deposit(job.output, job.output_table, job.force, job.files, remarks)


def _promise(job: Job) -> Principle:
    """Return the promise of a job; proximity without its parameters is refused with some that suit the table."""
    try:
        return conjunction(parse(text) for text in job.promises)
    except MissingParameterError as fault:
        from discreet.principles.proximity import Proximity  # imported late: only this refusal needs it

        if fault.name != Proximity.name:
            raise
        from discreet.report.profile import suggest_near  # imported late: only this refusal needs it

        advice = None
        with suppress(DiscreetError):  # if the table cannot be read, either, the promise is refused first
            table, *_ = read_input(job)
            columns = [column for column in table.sensitive if column.kind == "numeric" and table.person is None]
            found = (suggest_near(Prior.of(replace(table, sensitive=(column,)))) for column in columns)
            advice = next(filter(None, found), None)
        if advice is None:
            raise
        needs = f"{Proximity.name} needs its parameters epsilon and m"
        raise DiscreetError(f"{needs}; this table can keep for example '{advice}'") from None


def cautions(job: Job, scheme: Scheme, trace: Path | None, before: str | None) -> Iterator[str]:
    """Yield what to be careful about when a release is replaced, or is an experiment."""
    if job.seed is not None:
        seed = argument("seed")
        yield f"with {seed} the release is an experiment: anyone who knows the seed can tell whose row is whose."
    if before is None:
        return
    sentences = [f"this replaces the release in {job.place}."]
    if scheme.holds_for_one_run:
        sentences.append(
            f"What the scheme {scheme.name!r} promises holds for one run: if both are of the same table, do not choose "
            "among the results, and keep no other."
        )
    else:
        sentences.append(
            "Who has that one, too, may learn more from both than from either: give away only one of them."
        )
    if trace is None or not trace.exists():
        sentences.append("A trace of it no longer fits.")
    yield " ".join(sentences)


def _on_table(job: Job, promise: Principle, table: Table) -> Iterator[str]:
    """Yield what to know about the columns of a table under a promise."""
    yield from kept_assumptions(table)
    for sentence in (*on_numbers(promise, table), *(formulas(table.columns) if job.format == "csv" else ())):
        yield f"{sentence}."
    if any("distance" in form_of(part, "promise", "").given for text in job.promises for part in split(text, "&")):
        return
    for part in promise.parts:
        for column in table.sensitive:
            if column.kind != "categorical" and part.about in (None, column.name):
                remark = part.remark(column.name, column.kind)
                if remark:
                    yield remark


def _presence(release: Release) -> Iterator[str]:
    """Yield that presence is certain, where quasi-identifiers are published as they are."""
    if any(part.exact_quasi for part in release.projections):
        yield f"quasi-identifiers are published as they are. {FOR_RECIPIENTS}"


def _randomised(release: Release) -> Iterator[str]:
    """Yield which columns of a release hold randomised values."""
    for column, name in release.randomised.items():
        yield (
            f"the column {column!r} of the release holds randomised values: count {name!r} with discreet query, which "
            "undoes the randomisation, and not in the file."
        )


def _certain(promise: Principle, table: Table, audited: Audit) -> Iterator[str]:
    """Yield whose value is known to anybody who finds their group, and which promise about it would help."""
    for found in audited.certain:
        column = next((column for column in table.sensitive if column.name == found.attribute), None)
        if column is None:  # it is published unchanged
            way = argument("sensitive", found.attribute)
            yield f"{found.sentence}: {found.learnt}; if others must not, say {way}."
            continue
        from discreet.report.profile import suggest_promise  # imported late: most releases have no such value

        alone = replace(table, sensitive=(column,))
        advice = parse(suggest_promise(Prior.of(alone) if table.person is None else Prior.of_persons(alone)))
        if len(table.sensitive) > 1:
            advice = advice.naming(column.name)
        said = {str(part) for part in promise.parts}
        useful = advice.about_values and str(advice) not in said
        say = f'{argument("promises")} "{advice}"'
        way = f"; ask for it to be protected as well, with {say}" if useful else ""
        yield f"{found.sentence}: {found.learnt}{way}."


def _ends(scheme: Scheme, promise: Principle, release: Release, table: Table) -> Iterator[str]:
    """Yield whose intervals still end at somebody's numbers, where the scheme would have widened them."""
    if getattr(scheme, "snap", False) != "auto" or release.descriptions is None or bounds_presence(promise):
        return
    for attribute in release.quasi:
        column = table.column(attribute.name)
        if attribute.labelled or attribute.kind == "categorical" or len(column.values) <= FEW:
            continue
        if column.kind == "ordinal" and not column.declared_values:
            way = f"give all values in their order, with {argument('hierarchies', {column.name: 'FILE'})}"
            yield f"intervals of column {column.name!r} end at values that somebody has; {way}."
        elif attribute.unit is None and attribute.floor is None and unit_if_any(column) is None:
            way = f"say how coarse they are to be, for instance {argument('floor', {column.name: '1'})}"
            yield f"intervals of column {column.name!r} end at numbers that somebody has, of too many digits; {way}."


def _small(promise: Principle, sizes: GroupSizes | None) -> Iterator[str]:
    """Yield that groups are small, where the promise admits it, and which promise about it would help."""
    if sizes is None or not sizes.small or max(part.least_rows for part in promise.parts) > 1:
        return
    way = f'{argument("promises")} "k-anonymity(k={SMALL})"'
    yield (
        f"{sizes.small:,} of {counted(sizes.groups, 'group')} have fewer than {SMALL} rows, and nothing is promised "
        f"about that; ask for larger ones with {way} as well."
    )


def _beyond_groups(promise: Principle, audited: Audit) -> Iterator[str]:
    """Yield what checks found that an attacker may believe beyond what single groups reveal."""
    names = ["all groups"] if promise.monotone else ["all groups", "unions"]
    if audited.presence is not None and audited.presence.above_weighed:
        names.append("common values")
    for check in audited.checks:
        if check.name in names:
            yield check.sentence


class _Clock:
    """Measures the seconds of each stage."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, stage: str) -> None:
        now = time.perf_counter()
        self.laps[stage], self._last = now - self._last, now
