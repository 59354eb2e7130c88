"""Self-contained HTML pages, filled in from the templates in ``templates/``; no page contains a row of the data.

The page of a comparison is for others: it leaves out why a scheme refused the table or an audit failed, and what an
error said, since these sentences are for the steward and tell of values and rows.

Every value that a template inserts is escaped, and its control characters are made visible, so that neither a browser
nor a terminal that shows the page's source executes a text from the data. Only our own drawings are inserted as they
are.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from discreet.adversary.attacks.singling_out import WORDS
from discreet.errors import visible
from discreet.principles.wording import counted, listed, percent, rows
from discreet.report.charts import require, require_all
from discreet.report.comparison import Comparison
from discreet.report.measures import MEASURES, best, cell
from discreet.report.plots import PLOTS, Family, draw, families
from discreet.version import __version__

if TYPE_CHECKING:
    from jinja2 import Environment

    from discreet.report.board import Report


def page(comparison: Comparison, title: str = "a table") -> str:
    """The page of a comparison; ``title`` names the table that was published, without its path."""
    require_all()
    audits = [result.audit for result in comparison.results if result.audit is not None]
    groups = families(comparison.promises)
    sections = [_section(comparison, family, alone=len(groups) == 1) for family in groups]
    return render(
        "comparison.html",
        heading=f"Schemes compared on {title}",
        comparison=comparison,
        audits=len(audits),
        failed=sum(not audit.holds for audit in audits),
        refused=sum(result.refusal is not None for result in comparison.results),
        measures=MEASURES,
        best=best,
        cell=cell,
        sections=[section for section in sections if section["figures"]],
    )


def _section(comparison: Comparison, family: Family, *, alone: bool) -> dict[str, Any]:
    """The plots of one family of promises, and the schemes without a loss to draw."""
    results = [result for promise in family.promises for result in comparison.under(promise)]
    return {
        "title": None if alone and family.parameter is None else family.title,
        "figures": [(plot.title, svg) for plot in PLOTS if (svg := draw(comparison, family, plot)) is not None],
        "exact": list(dict.fromkeys(result.scheme for result in results if result.exact_quasi)),
    }


def board(report: Report) -> str:
    """The page of a report for a privacy board.

    Its bars are drawn by the template, which escapes values; what draws charts elsewhere breaks down on some of them.
    """
    evidence = [] if report.campaign is None else report.campaign.evidence
    return render(
        "report.html",
        heading=f"Privacy report on {report.name}",
        report=report,
        singling=[each for each in evidence if "main" in each.details],
        guesses=[each for each in evidence if "main" not in each.details],
    )


def render(template: str, **values: Any) -> str:
    """Fill in one of the templates; all of them expect a ``heading``.

    >>> title = "<b> \\x1b[2J"
    >>> print(environment().from_string("{{ title }}").render(title=title))
    &lt;b&gt; \\x1b[2J
    """
    return environment().get_template(template).render(values)


@cache
def environment(package: str = "discreet.report") -> Environment:
    """What fills in the templates of a package, every value escaped."""
    jinja2 = require("jinja2")
    made: Environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        undefined=jinja2.StrictUndefined,
        autoescape=True,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals |= {"rows": rows, "counted": counted, "percent": percent, "listed": listed}
    made.globals |= {"version": __version__, "singled_out_by": WORDS}
    return made


def _shown(value: Any) -> Any:
    """A value as a template inserts it; drawings, which are marked as safe, keep their lines."""
    return value if hasattr(value, "__html__") else visible(str(value))
