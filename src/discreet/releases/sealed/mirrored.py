"""A mirrored release: a generalized one whose choice of groups tells nothing about anybody's value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.releases.assumptions import KEPT_BY_GROUPS, ONE_RELEASE, SHUFFLED, TRUE_VALUES
from discreet.releases.generalized.release import ASSUMPTIONS as OF_GROUPS
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.sealed.release import BELIEVED, DEPENDENCE

ASSUMPTIONS = (
    TRUE_VALUES,
    OF_GROUPS[1],
    SHUFFLED,
    KEPT_BY_GROUPS,
    "The groups were found by lot, by cuts that need no test, and by tests whose two halves could be exchanged without "
    "anybody noticing, so that their choice tells nothing: whoever knows the algorithm, everybody's quasi-identifiers "
    "and how often each sensitive value occurs, and takes all ways to give the values to the persons as equally "
    "likely, believes of everyone what the group says. The promise covers this adversary.",
    "The promise does not cover an adversary who knows the algorithm and the sensitive values of some persons.",
    BELIEVED,
    DEPENDENCE,
    ONE_RELEASE,
)


@dataclass(frozen=True, eq=False, repr=False)
class MirroredRelease(GeneralizedRelease):
    """The published release, as made by a scheme (``from_groups``) or as found in a folder (``load``)."""

    format: ClassVar[str] = "mirrored"
    assumptions: ClassVar[tuple[str, ...]] = ASSUMPTIONS
    about_persons: ClassVar[bool] = False
