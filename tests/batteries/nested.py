"""Nested releases under fire."""

from __future__ import annotations

from batteries.anatomy import ANATOMY, hidden, invented
from batteries.battery import FEWER_GROUPS, KEPT_VALUE, UNKNOWN, Battery, Lines, Must, another
from support.tampering import Folder, put


def lifted_down(folder: Folder) -> None:
    """A row of a root is moved to one of its children, with the child's description."""
    parent = dict(zip(folder.column("nodes", "group"), folder.column("nodes", "parent"), strict=True))
    lines, at = folder.lines("table"), folder.place("table", "group")
    quasi = [folder.place("table", name) for name in ("age", "sex")]
    child = next(line for line in lines if parent[line[at]])
    lifted = next(line for line in lines if line[at] == parent[child[at]])
    for place in (at, *quasi):
        lifted[place] = child[place]


def in_a_circle(folder: Folder) -> None:
    """A root hangs on one of its children."""
    nodes, parents = folder.column("nodes", "group"), folder.column("nodes", "parent")
    child = next(line for line, parent in enumerate(parents) if parent)
    put("nodes", "parent", nodes[child], nodes.index(parents[child]))(folder)


NESTED = Battery(
    scheme="lifting",
    options={"marginals": "none"},
    promise="beta-likeness(beta=0.5)",
    stronger="beta-likeness(beta=0.01)",
    weaker="beta-likeness(beta=5)",
    withheld=Must("totals", "support totals"),
    tables={
        "table": Lines(
            column="pay",
            text=another("100", "200"),
            crossed="group",
            dropped=Must("broken consistency support totals"),
            repeated=Must("broken consistency support totals"),
            changed=Must("broken support totals"),
            exchanged=Must("broken consistency nesting support"),
        ),
        "nodes": Lines(
            column="persons",
            text=lambda text: str(int(text) + 1),
            crossed="persons",
            dropped=Must("broken consistency support"),
            repeated=Must("broken consistency support"),
            changed=Must("broken consistency support"),
            exchanged=Must("broken consistency support"),
        ),
    },
    own={
        "a value that nobody has": (put("table", "pay", UNKNOWN), Must("broken support totals")),
        "a kept value is changed": (KEPT_VALUE, Must("support totals")),
        "a row is no longer lifted": (lifted_down, Must("broken support")),
        "parents form a circle": (in_a_circle, Must("broken consistency nesting support", says="form a circle")),
        **FEWER_GROUPS,
    },
    unreadable={
        "a description that is none": (put("table", "age", "[20, 2"), r"column 'age' .*'\[20, 2'"),
        "persons that are no number": (put("nodes", "persons", "many"), "the column 'persons' of 'nodes.csv'"),
    },
)

NESTED_EXACT = NESTED._replace(
    options={"descriptions": "exact"},
    tables={
        "table": ANATOMY.tables["table"]._replace(
            dropped=Must("broken consistency support totals"), repeated=Must("broken consistency rows support totals")
        ),
        "sensitive": ANATOMY.tables["sensitive"]._replace(changed=Must("broken consistency support totals")),
        "nodes": NESTED.tables["nodes"],
    },
    own={
        **ANATOMY.own,
        "a row is invented": (invented, Must("broken consistency rows support totals")),
        "a row is hidden": (hidden, Must("broken consistency support")),
        "a group is new": (ANATOMY.own["a group is new"][0], Must("broken consistency support")),
        "parents form a circle": (in_a_circle, Must("broken consistency support", says="form a circle")),
    },
    unreadable={**ANATOMY.unreadable, "persons that are no number": NESTED.unreadable["persons that are no number"]},
)
"""With the rows and counts of an anatomy release."""
