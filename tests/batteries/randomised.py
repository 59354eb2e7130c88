"""Perturbed and retained releases under fire."""

from __future__ import annotations

from fractions import Fraction

from batteries.battery import KEPT_VALUE, UNKNOWN, Battery, Lines, Must
from support.tampering import Alteration, Folder, more, put, rewritten, stated, together


def boasting(folder: Folder) -> None:
    """Probability moves from another value to the diagonal: still a matrix, but it says too much."""
    gain = Fraction(folder.column("matrix", "0")[1])
    put("matrix", "0", lambda text: str(float(Fraction(text) + gain)))(folder)
    put("matrix", "0", "0", 1)(folder)


def taken_twice(folder: Folder) -> None:
    """One row stands in the place of another."""
    folder.tables["table"][1] = folder.tables["table"][2]


# that single values are others can be told of no release that randomises them all: any could have been drawn
ROWS = Lines(
    column="age",
    text=more(1),
    crossed="sex",
    dropped=Must("consistency rows"),
    repeated=Must("consistency rows"),
    changed=Must("rows"),
    exchanged=Must("rows"),
)
RANDOMISED: dict[str, tuple[Alteration, Must]] = {
    "a row stands in the place of another": (taken_twice, Must("rows")),
    "a value that nobody has": (put("table", "pay_randomised", UNKNOWN), Must("consistency")),
    "a kept value is changed": (KEPT_VALUE, Must("rows")),
}
MOVED_PRIOR = together(put("prior", "count", more(1)), put("prior", "count", more(-1), 1))
TENFOLD_PRIOR = put("prior", "count", lambda text: f"{text}0")
PERTURBED = Battery(
    scheme="perturbation",
    promise="beta-likeness(beta=2)",
    stronger="beta-likeness(beta=1)",
    weaker="beta-likeness(beta=3)",
    rows=300,
    trace="rows",
    grouped=False,
    withheld=Must("consistency rows"),
    tables={
        "table": ROWS,
        "matrix": Lines(
            column="0",
            text="0.123",
            crossed="published",
            dropped=Must("refused"),
            repeated=Must("refused"),
            changed=Must("matrix"),
            exchanged=Must("refused"),
        ),
        "prior": Lines(
            column="count",
            text=more(1),
            crossed="count",
            dropped=Must("refused"),
            repeated=Must("refused"),
            changed=Must("consistency prior"),
            exchanged=Must("prior"),
        ),
    },
    own={
        **RANDOMISED,
        "the prior is moved": (MOVED_PRIOR, Must("prior")),
        "the prior is ten times as large": (TENFOLD_PRIOR, Must("consistency prior")),
        "a matrix says too much": (boasting, Must("broken draws matrix")),
    },
    weakened="matrix",
    unreadable={
        "no prior": (rewritten("prior", "value,count"), "every sensitive value once"),
        "a prior below zero": (put("prior", "count", "-1"), "every sensitive value once"),
        "a prior with other columns": (rewritten("prior", "a,b", "1,2"), "must have value, count"),
        "a probability that is none": (put("matrix", "0", "x"), "'x', which is no probability"),
        "a matrix of other values": (rewritten("matrix", "published,b", "a,1"), "not the values of the prior"),
        "a table without its columns": (rewritten("table", "pay", "0"), "must have age, sex, pay_randomised, note"),
    },
)
RETAINED = Battery(
    scheme="retention",
    options={"noise": "prior"},
    promise="proximity(epsilon=100, m=2)",
    stronger="proximity(epsilon=100, m=3)",
    weaker="proximity(epsilon=100, m=1)",
    rows=500,
    trace="rows",
    grouped=False,
    withheld=Must("consistency rows"),
    tables={
        "table": ROWS,
        "prior": Lines(
            column="count",
            text=more(1),
            crossed="count",
            dropped=Must("consistency draws prior"),
            repeated=Must("refused"),
            changed=Must("broken consistency prior"),
            exchanged=Must("broken draws prior"),
        ),
    },
    own={
        **RANDOMISED,
        "the prior is moved": (MOVED_PRIOR, Must("broken prior")),
        "the prior is ten times as large": (TENFOLD_PRIOR, Must("broken consistency draws prior")),
        "a probability that breaks the promise": (
            stated("retention", "probability", value=0.9),
            Must("broken draws probability"),
        ),
        "a probability that breaks it by a hair": (
            stated("retention", "probability", value=lambda used: used + 1e-11),
            Must("broken probability", says="is broken by 3 of 12 published values"),
        ),
        "a probability that was not used": (
            stated("retention", "probability", value=0.0001),
            Must("draws probability"),
        ),
        "other noise": (stated("retention", "noise", value="uniform"), Must("broken draws probability")),
        "a seed": (lambda folder: folder.manifest["retention"].update(seed=1), Must("consistency")),
    },
    weakened="probability",
    unreadable={
        "a number that is none": (put("prior", "value", "many"), "not a number"),
        "no probability": (lambda folder: folder.manifest.update(retention={"p": 0.1}), "with which probability"),
        **{
            f"probability {value!r}": (stated("retention", "probability", value=value), "with which probability")
            for value in (2, True, float("nan"), "0.1")
        },
    },
)
