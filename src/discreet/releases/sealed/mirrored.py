"""A mirrored release: a sealed one whose choice of groups tells nothing about anybody's value, but in few of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.releases.assumptions import DESCRIBED, KEPT_BY_GROUPS, ONE_RELEASE, SHUFFLED, TRUE_VALUES
from discreet.releases.sealed.release import BELIEVED, DEPENDENCE, LEAKAGE, SealedRelease

ASSUMPTIONS = (
    TRUE_VALUES,
    DESCRIBED,
    SHUFFLED,
    KEPT_BY_GROUPS,
    "The groups were found by lot, by cuts that need no test, and by tests whose two halves could be exchanged without "
    "anybody noticing, so that their choice tells nothing. Some halves were tidied by a test with a coin, and the "
    "release says what that may have told about each group. Whoever knows the algorithm, everybody's quasi-identifiers "
    "and how often each sensitive value occurs, and takes all ways to give the values to the persons as equally "
    "likely, believes of everyone what the group says, or where something was told, in odds, at most "
    f"exp({LEAKAGE}) times as much. The promise covers this adversary. That the amounts are true is an assumption.",
    "The promise does not cover an adversary who knows the algorithm and the sensitive values of some persons.",
    BELIEVED,
    DEPENDENCE,
    ONE_RELEASE,
)


@dataclass(frozen=True, eq=False, repr=False)
class MirroredRelease(SealedRelease):
    """The published release, as made by a scheme (``from_seal``) or as found in a folder (``load``)."""

    format: ClassVar[str] = "mirrored"
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS
    needs_secret: ClassVar[bool] = False
    disjoint: ClassVar[bool] = False  # rows stay behind, and persons at one place may be in either half
