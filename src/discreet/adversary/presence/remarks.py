"""Remarks, in sentences, on what a release discloses about presence beyond its promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.adversary.check import Check
from discreet.kernels.judging import SLACK
from discreet.principles.wording import percent

if TYPE_CHECKING:
    from discreet.adversary.presence.stage import Presence


def remarks(presence: Presence) -> list[Check]:
    """Return remarks on presence beyond the promises, as findings that break no promise."""
    checks = []
    promised = presence.together
    if presence.alpha is not None and presence.alpha != promised and presence.above_combined > presence.above_group:
        others = "only what one group says is promised, and presence=combined would promise this too"
        if promised is not None:
            others = f"that is promised of what one group says, and {percent(promised)} of what all say together"
        checks.append(
            Check(
                "all groups",
                True,
                "Someone who takes all groups that may hold a person together believes "
                f"{presence.above_combined:,} of the {presence.rows:,} rows of the original to be in the table with "
                f"more than {percent(presence.alpha)}, the worst with {percent(presence.combined)}; {others}.",
            )
        )
    if presence.anyone > presence.combined * (1.0 + SLACK):
        whom = "Someone who is not in the original, with values that occur in it, would be believed to be in the table "
        how = f"with {percent(presence.anyone)} by all groups together, more than anyone who is in it."
        if not presence.anyone_reached:
            whom = "Nobody, in the original or not, is believed to be in the table with more than "
            how = f"{percent(presence.anyone)} by all groups together; that is a bound, which need not be reached."
        checks.append(Check("anyone", True, whom + how))
    if presence.weighed is not None:
        beyond = ""
        if presence.alpha is not None:
            limit = percent(presence.alpha)
            beyond = f", and {presence.above_weighed:,} of {presence.rows:,} rows with more than {limit}"
        checks.append(
            Check(
                "common values",
                True,
                "Someone for whom a value is the likelier the more groups list it believes one row of the original to "
                f"be in the table with {percent(presence.weighed)} by a single group{beyond}; the promise counts all "
                "combinations of a group's values as equally likely and does not bound this.",
            )
        )
    elif presence.ends is not None:
        checks.append(
            Check(
                "ends",
                True,
                "What descriptions say about presence counts all combinations that they admit as equally likely. "
                "Someone who knows that intervals are as narrow as possible, so that some row lies at each of their "
                f"ends, believes in one combination of ends with {percent(presence.ends)}; the promise does not bound "
                "this.",
            )
        )
    if presence.population is not None:
        checks.append(Check("population", True, presence.population.sentence))
    return checks
