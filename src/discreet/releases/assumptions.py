"""Assumptions that the manifests of several formats state in the same words."""

from __future__ import annotations

TRUE_VALUES = (
    "Every published row is a row of the original; its sensitive value is published as it was, and none was invented."
)
EXACT_ROWS = (
    "Every published row is a row of the original with its quasi-identifiers as they were; an attacker who knows "
    "someone's quasi-identifiers can tell that the person is in the table, and which rows may be the person's. Only "
    "the sensitive value is protected."
)
COUNTED = "Every sensitive value of a group's rows is counted in the group; which row has which value is not published."
DESCRIBED = (
    "All rows of a group have quasi-identifiers that its description admits; which row is whose is not published."
)
SHUFFLED = "The order of the rows and the numbers of the groups carry no information."
NO_ORDER = "The order of the rows carries no information."
CHOSEN = (
    "The promise bounds what the groups say; it does not bound what the choice of these groups rather than others may "
    "tell an adversary who knows the algorithm."
)
FOR_RECIPIENTS = (
    "Presence is certain, and anybody who knows a person's quasi-identifiers finds the row. The release is for "
    "recipients under contract, not for the open web."
)
COARSER = (
    "The publisher made the attributes with a floor, bins, a limit or a number to round to coarser, alike for "
    "everybody, before anything else was done: all that is said about the original is about these coarser values."
)
KEPT_BY_GROUPS = (
    "The promise is kept against the distribution of the sensitive attribute in the whole original, withheld rows "
    "included, by every group and by the withheld rows taken as one group."
)
ONE_RELEASE = "The promise covers this one release of the table, not what several releases of it say together."
FAIRLY_DRAWN = (
    "What was drawn was drawn fairly, nobody can repeat it, and this release was not chosen among several of the same "
    "table. No file can show this; it is an assumption."
)
NOISE_DRAWN = (
    "The noise was drawn as stated, nobody can repeat it, and nothing else was published of it. No file can show this; "
    "it is an assumption."
)
UNREPEATABLE = (FAIRLY_DRAWN, NOISE_DRAWN)
"""What is not true of a release whose draws a seed repeats; ``SEEDED`` is stated instead."""
SEEDED = (
    "What was drawn was drawn with a seed, for an experiment. Whoever knows the seed can repeat every draw, and what "
    "is said here to rest on chance does not hold against them."
)
