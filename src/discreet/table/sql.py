"""Count queries written as SQL: ``SELECT COUNT(*) FROM t WHERE age BETWEEN 20 AND 30 AND occupation = 'Sales'``.

Conditions are joined by AND. Each compares a column with values: ``=``, ``<``, ``<=``, ``>``, ``>=``, ``BETWEEN``,
``IN``. There is only one table, so its name does not matter. Column names are case-insensitive; a name with blanks or
dashes is written in double quotes (or backticks, or brackets), a text in single quotes. Anything else is refused in a
sentence that names it. Grouped counts (GROUP BY) are parsed in `discreet.table.sql_groups`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from discreet.errors import DiscreetError
from discreet.options import brief
from discreet.table.moments import Meaning
from discreet.table.query import NUMBERS, Condition, OneOf, Query, Range, number_given
from discreet.table.texts import MISSING, near

if TYPE_CHECKING:
    from sqlglot import exp

EXAMPLE = "SELECT COUNT(*) FROM t WHERE age BETWEEN 20 AND 30 AND occupation = 'Sales'"
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
    select = statement(text)
    if select.args.get("group"):
        refuse("GROUP BY here", "ask for one count, or for the counts of all values by group_by")
    asked = [unnamed(one) for one in select.expressions]
    if len(asked) != 1 or not is_count(asked[0]):
        shown = ", ".join(one.sql(dialect=DIALECT) for one in asked)
        raise DiscreetError(f"only COUNT(*) can be asked of a release, not {short(shown)}; write for example {EXAMPLE}")
    return conditions_of(select, kinds)


def conditions_of(select: exp.Select, kinds: Mapping[str, Meaning]) -> Query:
    """Return the conditions of a statement on a table with these columns."""
    where = select.args.get("where")
    return Query(() if where is None else tuple(Columns(kinds).conditions(where.this)))


# ---------------------------------------------------------------------------------------------------- the statement


def statement(text: str) -> exp.Select:
    """Parse the single SELECT of a text; clauses other than FROM, WHERE and GROUP BY are refused."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    if not isinstance(text, str):
        raise DiscreetError(f"{brief(text)} is not a query; write for example {EXAMPLE}")
    if len(text) > LONGEST:
        raise DiscreetError(
            f"the query has {len(text):,} characters, more than {LONGEST:,}; ask for ranges instead of single values, "
            "or divide it into several queries"
        )
    if not text.strip(" ;\t\n"):
        raise DiscreetError(f"the query is empty; write for example {EXAMPLE}")
    try:
        words = [token.text.upper() for token in sqlglot.tokenize(text, read=DIALECT)]
        # other statements are refused before parsing, because the parser would print warnings about them
        first = next((word for word in words if word != "("), "")
        if first not in ("SELECT", "WITH"):
            raise DiscreetError(
                f"a query begins with SELECT COUNT(*), not with {short(text)}; write for example {EXAMPLE}"
            )
        found = [statement for statement in sqlglot.parse(text, read=DIALECT) if statement is not None]
    except (SqlglotError, RecursionError) as fault:
        raise DiscreetError(
            f"the query {short(text)} cannot be understood as SQL{_where(fault)}; write for example {EXAMPLE}"
        ) from None
    if len(found) != 1:
        raise DiscreetError(f"there are {len(found)} queries in {short(text)}; ask one at a time")
    select = found[0]
    while isinstance(select, exp.Subquery) and not any(v for k, v in select.args.items() if k != "this"):
        select = select.this
    if isinstance(select, exp.SetOperation):
        refuse(f"{select.key.upper()} of queries")
    if not isinstance(select, exp.Select):
        raise DiscreetError(f"a query begins with SELECT COUNT(*), not with {short(text)}; write for example {EXAMPLE}")
    _check(select)
    return select


def _check(select: exp.Select) -> None:
    from sqlglot import exp

    given = {key.rstrip("_"): value for key, value in select.args.items() if value}
    source = given.pop("from", None)
    for key in given:
        if key not in ("expressions", "where", "group"):
            refuse(CLAUSES.get(key, key.upper()))
    if not select.expressions:
        raise DiscreetError(f"only COUNT(*) can be asked of a release, not nothing; write for example {EXAMPLE}")
    if source is None:
        raise DiscreetError(f"the query names no table; write for example {EXAMPLE}")
    table = source.this
    if isinstance(table, exp.Subquery):
        refuse("a sub-query")
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise DiscreetError(f"a release is one table, not {short(table.sql(dialect=DIALECT))}; write FROM t")
    if any(value for key, value in table.args.items() if key not in ("this", "alias")):
        raise DiscreetError(f"a release is one plain table, not {short(table.sql(dialect=DIALECT))}; write FROM t")


def unnamed(node: Any) -> Any:
    """Return a selected expression without its alias."""
    from sqlglot import exp

    return bare(node.this if isinstance(node, exp.Alias) else node)


def is_count(node: Any) -> bool:
    """Whether an expression is COUNT(*)."""
    from sqlglot import exp

    return isinstance(node, exp.Count) and isinstance(node.this, exp.Star)


def refuse(what: str, instead: str = f"it has conditions on single columns joined by AND, as in {EXAMPLE}") -> NoReturn:
    """Raise an error that names what a count query may not have, and what to write instead."""
    raise DiscreetError(f"a count query may not have {what}; {instead}")


def short(text: str) -> str:
    """Quote a piece of a query for a message, shortened to 80 characters."""
    text = " ".join(text.split())
    return repr(text if len(text) <= 80 else text[:77] + "...")


def _where(fault: Exception) -> str:
    errors: list[dict[str, Any]] = getattr(fault, "errors", [])
    if not errors or not errors[0].get("line"):
        return ""
    spot = f"line {errors[0]['line']}, column {errors[0]['col']}"
    return f" ({spot})"


# ------------------------------------------------------------------------------------------------------- conditions


class Columns:
    """Parses the conditions of a query and the columns they name."""

    def __init__(self, kinds: Mapping[str, Meaning]) -> None:
        self.kinds = kinds

    def conditions(self, root: exp.Expression) -> list[Condition]:
        """Return the conditions joined by AND, in the order of the text."""
        from sqlglot import exp

        found: list[Condition] = []
        waiting: list[Any] = [root]
        while waiting:
            node = waiting.pop()
            if isinstance(node, exp.Paren):
                waiting.append(node.this)
            elif isinstance(node, exp.And):
                waiting += [node.expression, node.this]
            else:
                found.append(self._condition(node))
        return found

    def _condition(self, node: Any) -> Condition:
        from sqlglot import exp

        if node.find(exp.Select):
            refuse("a sub-query")
        if isinstance(node, (exp.Or, exp.Xor)):
            refuse(node.key.upper(), "ask for its parts one by one, or list the values of one column with IN")
        if isinstance(node, (exp.Not, exp.NEQ)):
            refuse("NOT or <>", "list the values wanted with IN, or ask for the ranges on either side")
        if isinstance(node, exp.Is):
            shown, name = node.expression.sql(dialect=DIALECT), self.column(node.this)
            instead = "compare with a value: what is missing satisfies no condition"
            if self.kinds[name] == "categorical":
                instead = f"what is missing is the value '{MISSING}' here: write {name} = '{MISSING}'"
            refuse(f"IS {shown}", instead)
        if isinstance(node, exp.Between):
            if node.args.get("symmetric"):
                refuse("SYMMETRIC", "give the smaller end of BETWEEN first")
            name = self.column(node.this)
            return Range(name, self._value(name, node.args["low"]), self._value(name, node.args["high"]))
        if isinstance(node, exp.In):
            name = self.column(node.this)
            if any(value for key, value in node.args.items() if key not in ("this", "expressions")):
                refuse("IN with anything but a list of values")
            return OneOf(name, tuple(self._value(name, one) for one in node.expressions))
        if isinstance(node, (exp.EQ, exp.LT, exp.LTE, exp.GT, exp.GTE)):
            return self._comparison(node)
        return _not_a_condition(node)

    def _comparison(self, node: Any) -> Condition:
        from sqlglot import exp

        left, right, sign = bare(node.this), bare(node.expression), str(node.key)
        if isinstance(left, exp.Column) and isinstance(right, exp.Column):
            known = self._find(right) is not None
            raise DiscreetError(
                f"{short(node.sql(dialect=DIALECT))} compares two columns; compare a column with a value"
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
        from sqlglot import exp

        node = bare(node)
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Identifier):
            name = self._find(node)
            if name is None:
                raise DiscreetError(f"there is no column {node.name!r} in the release; {near(node.name, self.kinds)}")
            return name
        shown = node.sql(dialect=DIALECT)
        if isinstance(node, exp.Sub):
            meant = "-".join(part.strip() for part in shown.split(" - "))
            if meant.casefold() in (known.casefold() for known in self.kinds):
                raise DiscreetError(
                    f'the column {meant!r} has a dash in its name; write it in double quotes: "{meant}"'
                )
        if isinstance(node, exp.Literal):
            return refuse(f"a condition on {shown} alone", f"compare a column with a value, as in {EXAMPLE}")
        return refuse(f"functions or arithmetic such as {short(shown)}")

    def _value(self, name: str, node: Any) -> float | str:
        """Convert a literal to a value of the column: a number, or a text."""
        from sqlglot import exp

        node = bare(node)
        negative = isinstance(node, exp.Neg)
        literal = bare(node.this) if negative else node
        shown = node.sql(dialect=DIALECT)
        if isinstance(literal, exp.Column):
            raise DiscreetError(
                f"column {name!r} is compared with the name {literal.name!r}, where a value belongs; write a number, "
                f"or a text in single quotes: '{literal.name}'"
            )
        if not isinstance(literal, exp.Literal) or (negative and literal.is_string):
            raise DiscreetError(
                f"column {name!r} is compared with {short(shown)}; compare it with a number, or with a text in single "
                "quotes"
            )
        # texts are compared literally: 1.50, 1e2 and codes of twenty digits must not be converted to floats
        text = f"-{literal.this}" if negative else str(literal.this)
        return number_given(name, text, self.kinds[name]) if self.kinds[name] in NUMBERS else text


def bare(node: Any) -> Any:
    """Return an expression without the parentheses around it."""
    from sqlglot import exp

    while isinstance(node, exp.Paren):
        node = node.this
    return node


def _not_a_condition(node: Any) -> NoReturn:
    from sqlglot import exp

    shown = short(node.sql(dialect=DIALECT))
    if isinstance(node, exp.Func):
        refuse(f"functions such as {shown}")
    refuse(f"conditions such as {shown}")
