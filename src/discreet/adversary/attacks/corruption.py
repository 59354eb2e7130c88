"""Corruption: the values of some persons are known, and what is left of their groups reveals the others'.

The adversary knows the sensitive values of a share of the persons, drawn at random, and takes them out of the groups
that these persons are in. In a group of n rows with n_v of the value v, of which k persons and k_v values are known,

    belief(v) = (n_v - k_v) / (n - k)

for each of the others: all ways to deal the remaining values to them are equally likely. This is exact if the adversary
knows everyone's group (give the trace), and otherwise for persons whom only one group admits, if no rows are withheld;
about others the adversary believes what the release says. No promise here takes such knowledge into account, so no
bound is compared. Randomised releases are immune: each value was drawn by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from discreet.adversary.attacks.attack import Attack, Insight
from discreet.adversary.attacks.target import Floats, Target
from discreet.options import Interval
from discreet.principles.counts import Counts
from discreet.principles.wording import counted


@dataclass(frozen=True)
class Corruption(Attack):
    """Guess from what is left of everyone's group when a ``share`` of all persons is known.

    >>> import discreet as dc
    >>> from discreet.datasets import patients
    >>> release = dc.publish(patients(), dc.BetaLikeness(2), scheme=dc.Mondrian())
    >>> found = dc.attack(release, patients(), dc.Corruption(0.5), random_state=1).evidence[0]
    >>> found.victims, found.details["known"], found.bound
    (24, 24, None)
    """

    name: ClassVar[str] = "corruption"
    judged: ClassVar[bool] = False

    share: Annotated[float, Interval(0, 1, closed="left")] = 0.1
    """The share of all people whose values are known; somebody has to be left."""

    def refusal(self, target: Target) -> str | None:
        """Only where a known person's value is one of the person's group can it be taken out of that."""
        if not target.release.of_people:
            return "all rows are synthetic, so that no known value can be taken out of what is published"
        if target.release.published is None:
            return "every value was randomised by itself, so that other people's values reveal nothing about a person's"
        if target.release.grouped is None:
            return "a known person's row may be any of several that are in no group together, so it cannot be taken out"
        return None

    def learn(self, target: Target) -> Insight:
        """Draw who is known, and take the known values out of their groups."""
        release = target.release.grouped
        assert release is not None, "refused otherwise"
        everyone = target.everyone
        number = len(everyone.rows)
        known = np.zeros(number, np.bool_)
        known[target.random.permutation(number)[: round(self.share * number)]] = True
        group = everyone.group_of[everyone.person_of]
        taken = known & (group >= 0) & (everyone.truth >= 0)
        out = Counts.of_rows(group[taken], everyone.truth[taken], release.groups, target.width)
        left = _left(release.counts, out)
        values_left = np.diff(left.indptr)
        group_of = target.group_of

        def beliefs(part: slice) -> Floats:
            lines = target.beliefs(part)
            groups = group_of[part]
            sure = np.flatnonzero((groups >= 0) & (values_left[groups] > 0))
            lines[sure] = left[groups[sure]].toarray()
            return lines

        victims = None if target.strangers else ~known[target.rows]
        chosen = group_of[target.person_of][slice(None) if victims is None else victims]
        certain = chosen[chosen >= 0]
        exposed = int((values_left[certain] == 1).sum())
        details = {"known": int(known.sum()), "group_certain": len(certain), "exposed": exposed}
        remark = (
            f"Known here is what {counted(int(known.sum()), 'person')} had, which the promise does not take into "
            f"account; for {exposed:,} of the others only one value is left."
        )
        return Insight(beliefs, victims, details, remark)


def _left(counts: Counts, known: Counts) -> Any:
    """The shares of the values that are left in each group, as a sparse matrix; no values if all are known."""
    from scipy.sparse import csr_array

    shape = (len(counts), counts.width)
    whole, out = (csr_array((part.amounts, part.values, part.starts), shape=shape) for part in (counts, known))
    left = csr_array(whole - out, dtype=np.float64)
    # more may be known than a group has, if some of those who seem to be in it are withheld
    left.data = np.maximum(0.0, left.data)
    left.eliminate_zeros()
    sizes = np.asarray(left.sum(axis=1)).ravel()
    left.data /= np.repeat(sizes, np.diff(left.indptr))
    return left
