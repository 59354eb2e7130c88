"""The blocks of quasi-identifiers that an ambiguous release publishes together, and the names of their tables."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from discreet.errors import DiscreetError
from discreet.expressions import split, unquoted
from discreet.releases.counted import check_countable
from discreet.table.table import Table
from discreet.table.texts import near

Blocks = tuple[tuple[str, ...], ...]
"""The names of the quasi-identifiers in each auxiliary table: one, unless some are published together."""


def check_publishable(table: Table) -> None:
    """Raise if this format cannot publish the table."""
    check_countable(table, "an ambiguous release")
    if table.other:
        raise DiscreetError(
            f"the column {table.other[0].name!r} cannot be published as it is, because an ambiguous release has no "
            "rows to hold it; leave it out, or make it a quasi-identifier"
        )


def parse_pairs(pairs: str | Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the names to publish together, from a text such as ``age+education,sex+race``.

    A name that holds a sign of this grammar, or a blank at an end, is quoted as in JSON.

    >>> parse_pairs("age+education, sex+race"), parse_pairs('age+"wage, paid "')
    ([('age', 'education'), ('sex', 'race')], [('age', 'wage, paid ')])
    """
    if not isinstance(pairs, str):
        return [tuple(block) for block in pairs]
    if pairs.strip() in ("", "none"):
        return []
    parts = [list(map(str.strip, split(part, "+"))) for part in split(pairs, ",")]
    blocks = [tuple(unquoted("pairs", name, name) for name in part) for part in parts]
    alone = next((block for block in blocks if len(block) < 2 or not all(block)), None)
    if alone is not None:
        raise DiscreetError(
            f"pairs={pairs!r} names nothing to publish {'+'.join(alone)!r} together with; write for example "
            "pairs=age+education, or pairs=auto"
        )
    return blocks


def as_blocks(names: Sequence[str], blocks: Sequence[Sequence[str]] | None) -> Blocks:
    """Assign each quasi-identifier to one block, in table order; those that no block names get their own.

    >>> as_blocks(["age", "sex", "zip"], [["zip", "age"]])
    (('age', 'zip'), ('sex',))
    """
    given = [tuple(block) for block in blocks or ()]
    listed = [name for block in given for name in block]
    for name in listed:
        if name not in names:
            raise DiscreetError(f"there is no quasi-identifier {name!r} to publish with others; {near(name, names)}")
        if listed.count(name) > 1:
            raise DiscreetError(f"the quasi-identifier {name!r} is to be published with others twice; name it once")
    given += [(name,) for name in names if name not in listed]
    ordered = [tuple(sorted(block, key=list(names).index)) for block in given if block]
    return tuple(sorted(ordered, key=lambda block: list(names).index(block[0])))


def table_names(blocks: Blocks) -> list[str]:
    """The names of the auxiliary tables: ``auxiliary_`` and the attributes, joined by ``+``.

    Characters that file systems or this scheme treat specially are written as ``%`` and their bytes. A name that would
    be very long, or that some file systems would not distinguish from another, gets ``~`` and a number.

    >>> table_names((("age", "sex"), ("income/year",), ("Zip",), ("zip",)))
    ['auxiliary_age+sex', 'auxiliary_income%2Fyear', 'auxiliary_Zip', 'auxiliary_zip~2']
    """
    names: list[str] = []
    taken: set[str] = set()
    for block in blocks:
        stem = full = "auxiliary_" + "+".join(_safe(name) for name in block)
        while len(stem.encode()) > 120:
            stem = stem[:-1]
        name, turn = stem, 1
        while (turn == 1 and stem != full) or unicodedata.normalize("NFKC", name).casefold() in taken:
            turn += 1
            name = f"{stem}~{turn}"
        taken.add(unicodedata.normalize("NFKC", name).casefold())
        names.append(name)
    return names


def _safe(name: str) -> str:
    def escaped(found: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogatepass"))

    return re.sub(r'[\x00-\x1f\x7f-\x9f%+~/\\:*?"<>|\u200b-\u200f\u2028-\u202e\ud800-\udfff]', escaped, name)
