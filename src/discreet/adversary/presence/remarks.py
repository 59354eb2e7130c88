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
        others = "the promise covers what one group reveals; presence=combined would cover this too"
        if promised is not None:
            others = (
                f"that is promised of what one group reveals, and {percent(promised)} of what all groups reveal "
                "together"
            )
        checks.append(
            Check(
                "all groups",
                True,
                f"An adversary who combines all groups that may hold a person believes {presence.above_combined:,} of "
                f"the {presence.rows:,} rows of the original to be in the table with more than "
                f"{percent(presence.alpha)}, the worst with {percent(presence.combined)}; {others}.",
            )
        )
    if presence.anyone > presence.combined * (1.0 + SLACK):
        whom = "Someone who is not in the original, with values that occur in it, would be believed to be in the table "
        how = f"with {percent(presence.anyone)} by all groups together, more than anyone who is in it."
        if not presence.anyone_reached:
            whom = "Nobody, in the original or not, is believed to be in the table with more than "
            how = f"{percent(presence.anyone)} by all groups together; this is an upper bound that may not be reached."
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
                "An adversary who takes a value as the likelier the more groups list it believes one row of the "
                f"original to be in the table with {percent(presence.weighed)} by a single group{beyond}; the promise "
                "counts all combinations of a group's values as equally likely and does not bound this.",
            )
        )
    elif presence.group > presence.average * (1.0 + SLACK):
        checks.append(
            Check(
                "ends",
                True,
                "Descriptions are as narrow as possible, so that some row lies at each end of an interval. An "
                f"attacker who knows this believes in one combination of ends with {percent(presence.group)}, where "
                f"the numbers of rows and combinations alone justify {percent(presence.average)}; promises about "
                "presence are judged by the former.",
            )
        )
    if presence.own_row is not None and (presence.some_row or 0.0) > presence.own_row * (1.0 + SLACK):
        checks.append(
            Check(
                "overlap",
                True,
                f"The bound of {percent(presence.own_row)} on sensitive values is about a person's own row. Groups "
                "overlap here: that some row with the values of one person of the original has a certain sensitive "
                f"value, if there is such a row at all, is believed with {percent(presence.some_row or 0.0)}; "
                "association=combined would bound this too.",
            )
        )
    if presence.population is not None:
        checks.append(Check("population", True, presence.population.sentence))
    return checks
