"""Grouped counts written as SQL: ``SELECT education, sex, COUNT(*) FROM t WHERE age >= 30 GROUP BY education, sex``.

The query selects all columns of GROUP BY, in any order, and COUNT(*) once; each may have an alias (AS). Conditions are
those of a single count (`discreet.table.sql`). Anything else is refused in a sentence that names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.errors import DiscreetError
from discreet.table.grouping import COUNT, GroupBy
from discreet.table.moments import Meaning
from discreet.table.sql import DIALECT, Columns, bare, conditions_of, is_count, refuse, short, statement, unnamed

EXAMPLE = "SELECT education, sex, COUNT(*) FROM t WHERE occupation = 'Sales' GROUP BY education, sex"


def has_groups(text: str) -> bool:
    """Whether a SQL text has GROUP BY."""
    return bool(statement(text).args.get("group"))


def parse_group_by(text: str, kinds: Mapping[str, Meaning]) -> GroupBy:
    """Parse SQL into a grouped count on a table with these columns; without GROUP BY it has one cell.

    >>> parse_group_by("SELECT sex, COUNT(*) AS n FROM t GROUP BY sex", {"sex": "categorical"}).shown
    (('sex', 'sex'), (None, 'n'))
    """
    from sqlglot import exp

    select = statement(text)
    columns = Columns(kinds)
    grouped: list[str] = []
    group = select.args.get("group")
    if group is not None:
        for key, value in group.args.items():
            if value and key != "expressions":
                _refuse_group(f"GROUP BY with {key.replace('_', ' ').upper()}")
        for node in map(bare, group.expressions):
            if isinstance(node, (exp.Literal, exp.Tuple, exp.Rollup, exp.Cube, exp.GroupingSets)):
                _refuse_group(f"GROUP BY {short(node.sql(dialect=DIALECT))}")
            grouped.append(columns.column(node))
    shown: list[tuple[str | None, str]] = []
    for node in select.expressions:
        what = None if is_count(unnamed(node)) else _selected(unnamed(node), columns, grouped)
        if what in [one for one, _ in shown]:
            raise DiscreetError(f"the query selects {what or 'COUNT(*)'} twice; select it once")
        shown.append((what, node.alias or what or COUNT))
    _check_shown(shown, grouped)
    return GroupBy(tuple(grouped), conditions_of(select, kinds), tuple(shown))


def _selected(node: Any, columns: Columns, grouped: list[str]) -> str:
    """Return the selected attribute, which must be in GROUP BY."""
    from sqlglot import exp

    if isinstance(node, (exp.Star, exp.Literal, exp.Func)) or isinstance(node.this, exp.Star):
        raise DiscreetError(
            f"only columns and COUNT(*) can be asked of a release, not {short(node.sql(dialect=DIALECT))}; write for "
            f"example {EXAMPLE}"
        )
    name = columns.column(node)
    if name not in grouped:
        raise DiscreetError(
            f"column {name!r} is selected but not in GROUP BY; name it there too, or leave it out of the query"
        )
    return name


def _check_shown(shown: list[tuple[str | None, str]], grouped: list[str]) -> None:
    names = [name for name, _ in shown]
    if None not in names:
        raise DiscreetError(f"the query does not select COUNT(*), which is all a release tells; write {EXAMPLE}")
    for name in grouped:
        if name not in names:
            raise DiscreetError(f"column {name!r} is in GROUP BY but not selected; select it too, or leave it out")
    headings = [heading for _, heading in shown]
    for heading in headings:
        if headings.count(heading) > 1:
            raise DiscreetError(f"two columns of the answer are called {heading!r}; name one of them with AS")


def _refuse_group(what: str) -> None:
    refuse(what, f"name the columns to group by, as in {EXAMPLE}")
