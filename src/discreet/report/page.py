"""A comparison as one self-contained HTML file with a table and plots, and no row of the data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discreet.principles.wording import rows
from discreet.report.compare import Asked, Comparison, Result
from discreet.report.escaping import escape
from discreet.report.measures import MEASURES, best, cell
from discreet.report.plots import PLOTS, Family, draw, families, require
from discreet.version import __version__

STYLE = """
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 70rem; padding: 2rem 1.25rem 3rem; background: #fff; color: #222;
       font: 16px/1.5 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .5rem; }
p { margin: .25rem 0; max-width: 50rem; }
.quiet { color: #555; }
.wide { overflow-x: auto; margin-top: 1.25rem; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: #555; padding-bottom: .5rem; }
th, td { padding: .35rem .7rem; text-align: left; vertical-align: top; }
thead th { border-bottom: 2px solid #222; font-weight: 600; vertical-align: bottom; }
tbody tr { border-bottom: 1px solid #e3e3e3; }
tbody th { font-weight: normal; white-space: nowrap; }
tbody th[scope=rowgroup] { font-weight: 600; padding-top: 1.1rem; }
.number { text-align: right; }
.number, .whole { white-space: nowrap; }
.best { font-weight: 700; }
.yes { color: #00613f; }
.no { color: #a50f15; font-weight: 700; }
.refused { color: #555; font-style: italic; }
.plots { display: flex; flex-wrap: wrap; gap: 1.5rem; }
figure { margin: .5rem 0; flex: 0 1 auto; break-inside: avoid; max-width: 100%; }
figcaption { font-weight: 600; margin-bottom: .25rem; }
svg { max-width: 100%; height: auto; display: block; }
ul { padding-left: 1.2rem; margin: .25rem 0; }
footer { margin-top: 2.5rem; border-top: 1px solid #e3e3e3; padding-top: .75rem; font-size: .85rem; color: #555; }
@media print {
  @page { margin: 1.5cm; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .wide { overflow: visible; }
  h2 { break-after: avoid; }
  .plots { flex-wrap: nowrap; gap: .75rem; }
  figure { flex: 1 1 0; }
  tr, figure { break-inside: avoid; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
"""


def page(comparison: Comparison, title: str = "a table") -> str:
    """The page; ``title`` names the table that was published, without its path."""
    require()
    groups = families(comparison.promises)
    body = [
        f"<h1>Schemes compared on {escape(title)}</h1>",
        *(f"<p>{line}</p>" for line in _header(comparison)),
        _table(comparison),
        *_failures(comparison.results),
        *(part for family in groups for part in _plots(comparison, family, alone=len(groups) == 1)),
        _meanings(comparison.asked, len(comparison.sensitive)),
        f"<footer>Made by discreet {__version__}. This page holds no record of the table.</footer>",
    ]
    return document(f"Schemes compared on {title}", body)


def document(title: str, body: Sequence[str]) -> str:
    """A complete, self-contained HTML file with these lines as its body."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


def _header(comparison: Comparison) -> Iterator[str]:
    which = ", ".join(map(_named, comparison.sensitive))
    about = f", sensitive attribute{'s' if len(comparison.sensitive) > 1 else ''} {which}" if which else ""
    quasi = ", ".join(_named(name) for name in comparison.quasi)
    yield f"{rows(comparison.rows)}; quasi-identifiers {quasi}{about}."
    audits = [result.audit for result in comparison.results if result.audit is not None]
    refused = len(comparison.results) - len(audits)
    failed = sum(not audit.holds for audit in audits)
    if failed:
        text = f'<span class="no">{failed:,} of {_counted(len(audits), "audit")} FAILED.</span>'
    elif audits:
        text = f'<span class="yes">{_counted(len(audits), "audit")} made from the published files; all hold.</span>'
    else:
        text = '<span class="no">Nothing could be published.</span>'
    yield text + (f" {_counted(refused, 'refusal')}." if refused else "")


def _named(name: str) -> str:
    return f"<b>{escape(name)}</b>"


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


# ---------------------------------------------------------------------------------------------------------- the table


def _table(comparison: Comparison) -> str:
    heads = "".join(
        f'<th scope="col" class="number" title="{escape(measure.meaning)}">{measure.title}</th>' for measure in MEASURES
    )
    lines = [f'<tr><th scope="col">scheme</th><th scope="col">audit</th><th scope="col">achieved</th>{heads}</tr>']
    several = len(comparison.promises) > 1
    bodies = []
    for promise in comparison.promises:
        results = comparison.under(promise)
        name = f'<tr><th scope="rowgroup" colspan="{3 + len(MEASURES)}">{escape(str(promise))}</th></tr>'
        winners = [best(measure, results) for measure in MEASURES]
        bodies.append(
            "<tbody>" + (name if several else "") + "\n".join(_row(one, winners) for one in results) + "</tbody>"
        )
    what = "one line per scheme" if several else f"under {escape(str(comparison.promises[0]))}"
    return (
        f'<div class="wide"><table><caption>Results, {what}; the best of each column in bold.</caption>\n'
        f"<thead>{''.join(lines)}</thead>\n" + "\n".join(bodies) + "\n</table></div>"
    )


def _row(result: Result, winners: Sequence[Sequence[Result]]) -> str:
    name = f'<th scope="row">{escape(result.scheme)}</th>'
    if result.audit is None:
        why = escape(result.refusal or "")
        return f'<tr>{name}<td class="refused" colspan="{2 + len(MEASURES)}">refused: {why}</td></tr>'
    verdict = '<td class="yes">holds</td>' if result.audit.holds else '<td class="no">FAILS</td>'
    cells = "".join(
        f'<td class="number{" best" if result in won else ""}">{cell(measure, result)}</td>'
        for measure, won in zip(MEASURES, winners, strict=True)
    )
    return f'<tr>{name}{verdict}<td class="whole">{escape(result.achieved_text)}</td>{cells}</tr>'


def _failures(results: Sequence[Result]) -> Iterator[str]:
    """The list of failures, if there are any."""
    failed = [result for result in results if result.failures]
    if failed:
        yield "<h2>What failed</h2>\n<ul>"
        for result in failed:
            for sentence in result.failures:
                yield f"<li>{escape(result.scheme)}, {escape(result.promise)}: {escape(sentence)}</li>"
        yield "</ul>"


# ---------------------------------------------------------------------------------------------------------- the plots


def _plots(comparison: Comparison, family: Family, *, alone: bool) -> Iterator[str]:
    drawn = [(plot.title, svg) for plot in PLOTS if (svg := draw(comparison, family, plot)) is not None]
    if not drawn:
        return
    if not alone or family.parameter is not None:
        yield f"<h2>{escape(family.title)}</h2>"
    figures = "\n".join(f"<figure><figcaption>{title}</figcaption>\n{svg}</figure>" for title, svg in drawn)
    yield f'<div class="plots">\n{figures}\n</div>'
    exact = [result.scheme for promise in family.promises for result in comparison.under(promise) if result.exact_quasi]
    if exact:
        names = escape(", ".join(dict.fromkeys(exact)))
        yield f'<p class="quiet">Without a loss to draw, since quasi-identifiers are exact: {names}.</p>'


def _meanings(asked: Asked, sensitive: int) -> str:
    """The section that explains the numbers."""
    dropped = f" {asked.dropped:,} of them select no row of the original and are left out." if asked.dropped else ""
    protected = "" if not sensitive else f" and one on {'the' if sensitive == 1 else 'a'} sensitive attribute"
    lines = [f"<b>{measure.title}</b>: {escape(measure.meaning)}." for measure in MEASURES]
    lines.insert(0, "<b>achieved</b>: the strongest parameter for which the release still keeps the promise.")
    lines.append(
        f"<b>workload</b>: {asked.queries:,} random count queries, each with a condition on "
        f"{_counted(asked.dimensions, 'quasi-identifier')}{protected}, {asked.size}; the same for every "
        f"release.{dropped}"
    )
    return "<h2>How to read this</h2>\n<ul>" + "".join(f"<li>{line}</li>" for line in lines) + "</ul>"
