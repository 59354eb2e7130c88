"""Counts, sums and means as SQL: ``SELECT COUNT(*) FROM t WHERE age BETWEEN 20 AND 30 AND occupation = 'Sales'``.

Conditions are joined by AND. Each compares a column with values: ``=``, ``<``, ``<=``, ``>``, ``>=``, ``BETWEEN``,
``IN``. There is only one table, so its name does not matter. Column names are case-insensitive; a name with blanks or
dashes is written in double quotes (or backticks, or brackets), a text in single quotes. In place of COUNT(*) stand
SUM(column) or AVG(column) of numbers. A grouped count selects all columns of GROUP BY, in any order, and COUNT(*) once;
each may have an alias (AS). Anything else is refused in a sentence that names it.

This module imports sqlglot, which takes a while: import it where a query is parsed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.errors import DiscreetError
from discreet.options import brief
from discreet.table.date_numbers import Meaning
from discreet.table.grouping import COUNT, GroupBy
from discreet.table.query import NUMBERS, Condition, OneOf, Query, Range, number_given
from discreet.table.texts import MISSING, near
from discreet.table.total import Measure, Total

EXAMPLE = "SELECT COUNT(*) FROM t WHERE age BETWEEN 20 AND 30 AND occupation = 'Sales'"
GROUP_EXAMPLE = "SELECT education, sex, COUNT(*) FROM t WHERE occupation = 'Sales' GROUP BY education, sex"
GROUP_ADVICE = f"name the columns to group by, as in {GROUP_EXAMPLE}"
LONGEST = 1_000_000
"""The most characters of a query: enough for a hundred thousand values, and parsed within seconds."""
DIALECT = "sqlite"
"""SQLite's dialect accepts names in double quotes, backticks and brackets."""
CLAUSES = {
    "with": "WITH",
    "joins": "a JOIN or a second table",
    "laterals": "a JOIN",
    "having": "HAVING",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "distinct": "DISTINCT",
    "windows": "WINDOW",
    "qualify": "QUALIFY",
    "into": "INTO",
}


def parse_count(text: str, kinds: Mapping[str, Meaning]) -> Query:
    """Parse SQL into a count query on a table with these columns.

    >>> parse_count("SELECT COUNT(*) FROM t WHERE 20 <= age", {"age": "numeric"}).conditions
    (Range(attribute='age', low=20.0, high=None, low_open=False, high_open=False),)
    """
    select = _statement(text)
    if select.args.get("group"):
        _refuse("GROUP BY here", "ask for one count, or for the counts of all values by group_by")
    if _measured(select, _Columns(kinds)) is not None:
        raise DiscreetError("only COUNT(*) is a query; give SUM and AVG to estimate, estimates or answers as text")
    return _Columns(kinds).query(select)


def parse_question(text: str, kinds: Mapping[str, Meaning]) -> Query | Total:
    """Parse SQL into a count query, or into a request for a sum or a mean, on a table with these columns.

    >>> parse_question("SELECT AVG(age) FROM t", {"age": "numeric"})
    Total(measure=Measure(attribute='age', mean=True), query=Query(conditions=()))
    """
    select, columns = _statement(text), _Columns(kinds)
    if select.args.get("group"):
        _refuse("GROUP BY here", "ask for one count, or for the counts of all values by group_by")
    measure, query = _measured(select, columns), columns.query(select)
    return query if measure is None else Total(measure, query)


def _measured(select: exp.Select, columns: _Columns) -> Measure | None:
    """Return what a query without groups asks for: a sum or a mean, or None for COUNT(*)."""
    selected = [node.unalias().unnest() for node in select.expressions]
    measure = _measure(selected[0], columns) if len(selected) == 1 else None
    if measure is None and (len(selected) != 1 or not _is_count(selected[0])):
        shown = ", ".join(_written(node) for node in selected)
        raise _misread(f"only COUNT(*), SUM or AVG of a column can be asked of a release, not {_quoted(shown)}")
    return measure


def parse_condition(text: str, kinds: Mapping[str, Meaning]) -> Query:
    """Parse what stands after WHERE into a query on a table with these columns.

    >>> parse_condition("year = 1984", {"year": "numeric"}).conditions
    (OneOf(attribute='year', values=(1984.0,)),)
    """
    select = _statement(f"SELECT COUNT(*) FROM t WHERE {text}")
    if select.args.get("group"):
        _refuse("GROUP BY here", "give conditions on single columns joined by AND")
    return _Columns(kinds, "the table").query(select)


def has_groups(text: str) -> bool:
    """Whether a SQL text has GROUP BY."""
    return bool(_statement(text).args.get("group"))


def parse_group_by(text: str, kinds: Mapping[str, Meaning]) -> GroupBy:
    """Parse SQL into a grouped count on a table with these columns; without GROUP BY it has one cell.

    >>> parse_group_by("SELECT sex, COUNT(*) AS n FROM t GROUP BY sex", {"sex": "categorical"}).shown
    (('sex', 'sex'), (None, 'n'))
    """
    select = _statement(text)
    columns = _Columns(kinds)
    grouped: list[str] = []
    group = select.args.get("group")
    if group is not None:
        for key, value in group.args.items():
            if value and key != "expressions":
                _refuse(f"GROUP BY with {key.replace('_', ' ').upper()}", GROUP_ADVICE)
        for node in (member.unnest() for member in group.expressions):
            if isinstance(node, (exp.Literal, exp.Tuple, exp.Rollup, exp.Cube, exp.GroupingSets)):
                _refuse(f"GROUP BY {_sql(node)}", GROUP_ADVICE)
            grouped.append(columns.column(node))
    shown: list[tuple[str | None, str]] = []
    measures: list[Measure | None] = []
    for node in select.expressions:
        inner = node.unalias().unnest()
        measure = _measure(inner, columns)
        name = None if measure is not None or _is_count(inner) else _selected(inner, columns, grouped)
        if name is None:
            measures.append(measure)
        elif name in [selected for selected, _ in shown]:
            raise DiscreetError(f"the query selects {name} twice; select it once")
        shown.append((name, node.alias or name or (COUNT if measure is None else measure.heading)))
    if len(measures) > 1:
        if len(set(measures)) == 1:
            raise DiscreetError(f"the query selects {measures[0] or 'COUNT(*)'} twice; select it once")
        raise DiscreetError(
            f"the query selects {' and '.join(str(each or 'COUNT(*)') for each in measures)}; ask for one of them at a "
            "time"
        )
    _check_shown(shown, grouped)
    return GroupBy(tuple(grouped), columns.query(select), tuple(shown), measures[0])


def _measure(node: Any, columns: _Columns) -> Measure | None:
    """Return the sum or the mean that an expression asks for; None if it asks for neither."""
    if not isinstance(node, (exp.Sum, exp.Avg)) or not isinstance(node.this.unnest(), exp.Column):
        return None
    return Measure(columns.column(node.this), isinstance(node, exp.Avg))


def _selected(node: Any, columns: _Columns, grouped: list[str]) -> str:
    """Return the selected attribute, which must be in GROUP BY."""
    if isinstance(node, (exp.Star, exp.Literal, exp.Func)) or isinstance(node.this, exp.Star):
        raise DiscreetError(
            f"only columns and COUNT(*), SUM or AVG can be asked of a release, not {_sql(node)}; write for example "
            f"{GROUP_EXAMPLE}"
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
        raise DiscreetError(
            f"the query does not select COUNT(*), SUM or AVG, which is all a release tells; write {GROUP_EXAMPLE}"
        )
    for name in grouped:
        if name not in names:
            raise DiscreetError(f"column {name!r} is in GROUP BY but not selected; select it too, or leave it out")
    headings = [heading for _, heading in shown]
    for heading in headings:
        if headings.count(heading) > 1:
            raise DiscreetError(f"two columns of the answer are called {heading!r}; name one of them with AS")


# ---------------------------------------------------------------------------------------------------- the statement


def _statement(text: str) -> exp.Select:
    """Parse the single SELECT of a text; clauses other than FROM, WHERE and GROUP BY are refused."""
    if not isinstance(text, str):
        raise _misread(f"{brief(text)} is not a query")
    if len(text) > LONGEST:
        raise DiscreetError(
            f"the query has {len(text):,} characters, more than {LONGEST:,}; ask for ranges instead of single values, "
            "or divide it into several queries"
        )
    if not text.strip(" ;\t\n"):
        raise _misread("the query is empty")
    other = f"a query begins with SELECT COUNT(*), not with {_quoted(text)}"
    try:
        words = (token.text.upper() for token in sqlglot.tokenize(text, read=DIALECT))
        # other statements are refused before parsing, because the parser would print warnings about them
        if next((word for word in words if word != "("), "") not in ("SELECT", "WITH"):
            raise _misread(other)
        statements = [statement for statement in sqlglot.parse(text, read=DIALECT) if statement is not None]
    except (SqlglotError, RecursionError) as fault:
        first: dict[str, Any] = next(iter(getattr(fault, "errors", [])), {})
        where = f" (line {first['line']}, column {first['col']})" if first.get("line") else ""
        raise _misread(f"the query {_quoted(text)} cannot be understood as SQL{where}") from None
    if len(statements) != 1:
        raise DiscreetError(f"there are {len(statements)} queries in {_quoted(text)}; ask one at a time")
    select = statements[0]
    while isinstance(select, exp.Subquery) and not any(v for k, v in select.args.items() if k != "this"):
        select = select.this
    if isinstance(select, exp.SetOperation):
        _refuse(f"{select.key.upper()} of queries")
    if not isinstance(select, exp.Select):
        raise _misread(other)
    _check(select)
    return select


def _check(select: exp.Select) -> None:
    given = {key.rstrip("_"): value for key, value in select.args.items() if value}
    source = given.pop("from", None)
    for key in given:
        if key not in ("expressions", "where", "group"):
            _refuse(CLAUSES.get(key, key.upper()))
    if not select.expressions:
        raise _misread("only COUNT(*) can be asked of a release, not nothing")
    if source is None:
        raise _misread("the query names no table")
    table = source.this
    if isinstance(table, exp.Subquery):
        _refuse("a sub-query")
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise DiscreetError(f"a release is one table, not {_sql(table)}; write FROM t")
    if any(value for key, value in table.args.items() if key not in ("this", "alias")):
        raise DiscreetError(f"a release is one plain table, not {_sql(table)}; write FROM t")


def _is_count(node: Any) -> bool:
    """Whether an expression is COUNT(*)."""
    return isinstance(node, exp.Count) and isinstance(node.this, exp.Star)


def _refuse(
    what: str, instead: str = f"it has conditions on single columns joined by AND, as in {EXAMPLE}"
) -> NoReturn:
    """Raise an error that names what a count query may not have, and what to write instead."""
    raise DiscreetError(f"a count query may not have {what}; {instead}")


def _quoted(text: str) -> str:
    """Quote a piece of a query for a message, shortened to 80 characters."""
    text = " ".join(text.split())
    return repr(text if len(text) <= 80 else text[:77] + "...")


def _sql(node: exp.Expression) -> str:
    return _quoted(_written(node))


def _written(node: exp.Expression) -> str:
    """Return an expression as text, or what it is if it is nested too deeply to be written."""
    try:
        return node.sql(dialect=DIALECT)
    except RecursionError:
        return f"{node.key.upper()} nested too deeply to be shown"


def _misread(fault: str) -> DiscreetError:
    return DiscreetError(f"{fault}; write for example {EXAMPLE}")


# ------------------------------------------------------------------------------------------------------- conditions


class _Columns:
    """Parses the conditions of a query and the columns they name."""

    def __init__(self, kinds: Mapping[str, Meaning], what: str = "the release") -> None:
        self.kinds, self.what = kinds, what

    def query(self, select: exp.Select) -> Query:
        """Return the conditions of a statement, joined by AND, in the order of the text."""
        conditions: list[Condition] = []
        waiting: list[Any] = [select.args["where"].this] if select.args.get("where") else []
        while waiting:
            node = waiting.pop().unnest()
            if isinstance(node, exp.And):
                waiting += [node.expression, node.this]
            else:
                conditions.append(self._condition(node))
        return Query(tuple(conditions))

    def _condition(self, node: Any) -> Condition:
        if node.find(exp.Select):
            _refuse("a sub-query")
        if isinstance(node, (exp.Or, exp.Xor)):
            _refuse(node.key.upper(), "ask for its parts one by one, or list the values of one column with IN")
        if isinstance(node, (exp.Not, exp.NEQ)):
            _refuse("NOT or <>", "list the values wanted with IN, or ask for the ranges on either side")
        if isinstance(node, exp.Is):
            shown, name = _written(node.expression), self.column(node.this)
            instead = "compare with a value: a missing value satisfies no condition"
            if self.kinds[name] == "categorical":
                instead = f"a missing value is '{MISSING}' here: write {name} = '{MISSING}'"
            _refuse(f"IS {shown}", instead)
        if isinstance(node, exp.Between):
            if node.args.get("symmetric"):
                _refuse("SYMMETRIC", "give the smaller end of BETWEEN first")
            name = self.column(node.this)
            return Range(name, self._value(name, node.args["low"]), self._value(name, node.args["high"]))
        if isinstance(node, exp.In):
            name = self.column(node.this)
            if any(value for key, value in node.args.items() if key not in ("this", "expressions")):
                _refuse("IN with anything but a list of values")
            return OneOf(name, tuple(self._value(name, value) for value in node.expressions))
        if isinstance(node, (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE)):
            return self._comparison(node)
        return _refuse(f"{'functions' if isinstance(node, exp.Func) else 'conditions'} such as {_sql(node)}")

    def _comparison(self, node: Any) -> Condition:
        left, right, sign = node.this.unnest(), node.expression.unnest(), str(node.key)
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            known = self._find(right) is not None
            raise DiscreetError(
                f"{_sql(node)} compares two columns; compare a column with a value"
                + ("" if known else f", and write a text in single quotes: '{right.name}'")
            )
        if isinstance(right, exp.Column) and not isinstance(left, (exp.Func, exp.Binary)):
            left, right = right, left
            sign = {"lt": "gt", "lte": "gte", "gt": "lt", "gte": "lte"}.get(sign, sign)
        name = self.column(left)
        value = self._value(name, right)
        if sign == "eq":
            return OneOf(name, (value,))
        if sign in ("lt", "lte"):
            return Range(name, None, value, high_open=sign == "lt")
        return Range(name, value, None, low_open=sign == "gt")

    def _find(self, column: exp.Column) -> str | None:
        """Return the attribute with this name, ignoring case if no name matches exactly; None unless it is unique."""
        name = column.name
        if name in self.kinds:
            return name
        close = [known for known in self.kinds if known.casefold() == name.casefold()]
        return close[0] if len(close) == 1 else None

    def column(self, node: Any) -> str:
        """Return the attribute that an expression names; any other expression is refused."""
        node = node.unnest()
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier):
            name = self._find(node)
            if name is None:
                raise DiscreetError(f"there is no column {node.name!r} in {self.what}; {near(node.name, self.kinds)}")
            return name
        shown = _written(node)
        if isinstance(node, exp.Sub):
            meant = "-".join(part.strip() for part in shown.split(" - "))
            if meant.casefold() in (known.casefold() for known in self.kinds):
                raise DiscreetError(
                    f'the column {meant!r} has a dash in its name; write it in double quotes: "{meant}"'
                )
        if isinstance(node, exp.Literal):
            return _refuse(f"a condition on {shown} alone", f"compare a column with a value, as in {EXAMPLE}")
        return _refuse(f"functions or arithmetic such as {_quoted(shown)}")

    def _value(self, name: str, node: Any) -> float | str:
        """Convert a literal to a value of the column: a number, or a text."""
        node = node.unnest()
        negative = isinstance(node, exp.Neg)
        literal = node.this.unnest() if negative else node
        if isinstance(literal, exp.Column):
            raise DiscreetError(
                f"column {name!r} is compared with the name {literal.name!r}, where a value belongs; write a number, "
                f"or a text in single quotes: '{literal.name}'"
            )
        if not isinstance(literal, exp.Literal) or (negative and literal.is_string):
            raise DiscreetError(
                f"column {name!r} is compared with {_sql(node)}; compare it with a number, or with a text in single "
                "quotes"
            )
        # texts are compared literally: 1.50, 1e2 and codes of twenty digits must not be converted to floats
        text = f"-{literal.this}" if negative else str(literal.this)
        return number_given(name, text, self.kinds[name]) if self.kinds[name] in NUMBERS else text
