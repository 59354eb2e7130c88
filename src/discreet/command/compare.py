"""`discreet compare`: publishes one table by several schemes and compares the releases."""

from __future__ import annotations

from collections import Counter
from typing import Any

from rich.console import Console
from rich.text import Text

from discreet.command.console import (
    Exit,
    complain,
    internal_error,
    number,
    output,
    print_json,
    show_remark,
    watching,
)
from discreet.command.flags import parsed
from discreet.command.render import grid
from discreet.jobs.compare import OF_ITS_RELEASE, compare_file
from discreet.jobs.job import make_job
from discreet.principles.wording import rows
from discreet.report.comparison import Comparison, Result
from discreet.report.measures import EXACT, GCP, GROUPS, MEAN, MEASURES, WITHHELD, Measure, best, cell


def compare(
    schemes: tuple[str, ...],
    measured: tuple[str, ...],
    queries: int,
    dimensions: int | None,
    selectivity: float | None,
    volume: float | None,
    workload: str | None,
    equal: str | None,
    page: str | None,
    picture: str | None,
    file: str | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Compare schemes, and show what each achieves."""
    job = make_job(file, {**parsed(given), "output": "."}, OF_ITS_RELEASE)
    with watching() as progress:
        outcome = compare_file(
            job,
            schemes,
            at_once=not given["promises"],  # the promises of a job must be kept together
            measured=measured,
            page=page,
            picture=picture,
            queries=queries,
            dimensions=dimensions,
            selectivity=selectivity,
            volume=volume,
            workload=workload,
            equal=equal,
            progress=progress,
            remark=show_remark,
        )
    if as_json:
        print_json(outcome.as_dict())
    else:
        show(output(), outcome.comparison, outcome.page)
        if outcome.picture is not None:
            output().print(f"The plot is in {outcome.picture}; it contains no row of the table.")
    return _exit_code(outcome.comparison)


def _exit_code(comparison: Comparison) -> int:
    """Report what broke down, and return the exit code."""
    broken = [(result, name, fault) for result in comparison.results for name, fault in result.errors.items()]
    for result, name, fault in broken:
        internal_error(fault, f"{result.scheme}, {result.promise}, {name}: ")
    if not comparison.published and not broken:
        return complain(
            "no scheme could make any of these promises, for the reasons above; ask for less, or name other schemes"
        )
    return Exit.VIOLATED if comparison.broken else Exit.INTERNAL if broken else Exit.HOLDS


# ------------------------------------------------------------------------------------------------------------ showing


def show(console: Console, comparison: Comparison, page: str | None = None) -> None:
    """Print the results under each promise, and what was refused."""
    asked = comparison.asked
    on_sensitive = "" if not comparison.sensitive else f" and on {' or '.join(map(repr, comparison.sensitive))}"
    console.print(
        f"{rows(comparison.rows)}; {asked.queries:,} count queries on {asked.dimensions} of {len(comparison.quasi)} "
        f"quasi-identifiers{on_sensitive}, {asked.size}"
        + (f" ({asked.dropped:,} that select no row left out)." if asked.dropped else ".")
    )
    shown = _fitting(console, comparison)
    for promise in comparison.promises:
        results = comparison.under(promise)
        console.print()
        console.print(Text(str(promise), style="bold"))
        console.print(_table(results, shown))
        for sentence, names in _remarks(results).items():
            console.print(f"{', '.join(names)}: {sentence}")
    unsuited = _unsuited(comparison.results)
    if unsuited:
        console.print()
        console.print(Text("Refused", style="bold"))
        for reason, promises in unsuited.items():
            of = f" ({promises} promises)" if promises > 1 else ""
            console.print(f"{reason}{of}", soft_wrap=True)
    console.print()
    console.print(
        "AIL and GCP: loss of the quasi-identifiers alone, from 0 to 1; errors are relative to exact counts; seconds "
        f"are those of publishing, without {number(comparison.warm_up)} of compiling and warming up."
    )
    if comparison.trade is not None:
        console.print(comparison.trade)
    if any(result.exact_quasi for result in comparison.results):
        console.print(
            f"{EXACT}: quasi-identifiers are published as they are, sensitive values are not; compare by the errors."
        )
    left = [measure.title for measure in MEASURES if measure not in shown]
    if left:
        console.print(f"Not shown for lack of space: {', '.join(left)}; use a wider terminal, or --json.")
    if page is not None:
        console.print(
            f"The page is in {page}; it can be shared: it contains no row of the table, nor why anything was refused."
        )


def _remarks(results: tuple[Result, ...]) -> dict[str, list[str]]:
    """Return refusals of this table, failures of audits, and how much of exact releases is randomised, each with the
    schemes that it applies to."""
    remarks: dict[str, list[str]] = {}
    for result in results:
        if _reason(result) is not None:
            continue
        sentences = [result.refusal] if result.refusal else result.failures
        found = None if result.found is None else f"found {result.found}."
        for sentence in [*sentences, *filter(None, [found, result.unchanged])]:
            remarks.setdefault(sentence, []).append(result.scheme)
    return remarks


def _unsuited(results: tuple[Result, ...]) -> dict[str, int]:
    """Return the reasons why schemes cannot make some promises, each with the number of promises.

    The advice to use another scheme is left out, since other schemes are being compared anyway.
    """
    return dict(Counter(filter(None, map(_reason, results))))


def _reason(result: Result) -> str | None:
    """Return why a scheme is unsuited to a promise that another scheme keeps; None if it is not."""
    refusal = result.unsuited
    return refusal.reason if refusal is not None and refusal.promise is not None else None


def _fitting(console: Console, comparison: Comparison) -> tuple[Measure, ...]:
    """Return the measures for which the console is wide enough, dropping the least important first."""
    shown: tuple[Measure, ...] = MEASURES
    unlimited = console.options.update(max_width=10_000)
    for spare in (GCP, GROUPS, MEAN, WITHHELD):
        tables = [_table(comparison.under(promise), shown) for promise in comparison.promises]
        if max(console.measure(table, options=unlimited).maximum for table in tables) <= console.width:
            break
        shown = tuple(measure for measure in shown if measure is not spare)
    return shown


def _table(results: tuple[Result, ...], shown: tuple[Measure, ...]) -> Any:
    lines: list[tuple[str | Text, ...]] = []
    winners = [best(measure, results) for measure in shown]
    for result in results:
        if result.audit is None:
            verdict = Text("FAILED", style="bold red") if result.errors else Text("refused", style="yellow")
            lines.append((result.scheme, verdict))
            continue
        holds = result.audit.holds
        cells = [
            Text(cell(measure, result), style="bold" if result in won else "")
            for measure, won in zip(shown, winners, strict=True)
        ]
        verdict = Text("holds" if holds else "FAILS", style="green" if holds else "bold red")
        lines.append((result.scheme, verdict, result.achieved_text, result.averages_text, *cells))
    headings = ["scheme", "audit", "achieved", "average", *(measure.title for measure in shown)]
    return grid(headings, lines, right=range(4, len(headings)))
