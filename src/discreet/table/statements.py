"""Statements in the SQL of databases: one that reads is passed on, and any other is refused before it is sent.

This module imports sqlglot, which takes a while: import it where a statement is checked.
"""

from __future__ import annotations

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from discreet.arguments import argument
from discreet.errors import DiscreetError

BEGINS = ("SELECT", "WITH", "VALUES", "TABLE", "FROM")
"""The words that a statement may begin with; others would make the parser print warnings."""
WRITING = (exp.DML, exp.DDL, exp.Into, exp.Lock, exp.Command)


def reading_statement(text: str, dialect: str) -> str:
    """Return a statement that reads, without the semicolon at its end; refuse all others.

    >>> reading_statement("SELECT age FROM people WHERE age > 40;", "postgres")
    'SELECT age FROM people WHERE age > 40'
    >>> reading_statement("WITH gone AS (DELETE FROM people RETURNING *) SELECT * FROM gone", "postgres")
    Traceback (most recent call last):
    discreet.errors.DiscreetError: query must be one statement that reads, such as SELECT age, sex FROM people; this one
    would write
    """
    must = f"{argument('query')} must be one statement that reads, such as SELECT age, sex FROM people"
    try:
        tokens = sqlglot.tokenize(text, read=dialect)
        begin = next((token.text.upper() for token in tokens if token.text != "("), "")
        if begin not in BEGINS:
            raise DiscreetError(f"{must}; this one begins with {begin!r}" if begin else f"{must}; this one is empty")
        statements = [each for each in sqlglot.parse(text, read=dialect) if each is not None]
        statements = [each for each in statements if not isinstance(each, exp.Semicolon)]
    except (SqlglotError, RecursionError):
        raise DiscreetError(f"{must}; this one cannot be understood: correct it, or make it a view") from None
    if len(statements) != 1:
        raise DiscreetError(f"{must}; these are {len(statements)}")
    if not isinstance(statements[0], exp.Query | exp.Values) or _writes(statements[0]):
        raise DiscreetError(f"{must}; this one would write")
    last = [token for token in tokens if token.text != ";"][-1]
    return text[tokens[0].start : last.end + 1]


def _writes(statement: exp.Query | exp.Values) -> bool:
    return any(isinstance(node, WRITING) and not isinstance(node, exp.Query) for node in statement.walk())
