"""The look-up of people in the auxiliary tables of an ambiguous release, on which all beliefs rest."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.kernels.presence import coverage, value_index
from discreet.kernels.presence.value_index import Shown
from discreet.principles import wording
from discreet.principles.counts import Counts
from discreet.progress import Tell, no_progress
from discreet.releases.canonical import line_keys
from discreet.releases.exact_rows import codes_found
from discreet.releases.lookup import Lookup, Matches
from discreet.releases.max_presence import PresenceBound, ValueLists, most_believed
from discreet.table.combinations import distinct, looked_up, numbered, ranked_combinations, ranks
from discreet.table.table import Column

if TYPE_CHECKING:
    from discreet.families.ambiguity.release import AmbiguousRelease, Auxiliary

kernels, covering_kernels = cast(Any, value_index), cast(Any, coverage)

LINES = 1 << 13
"""How many people are looked up between two reports of progress."""


class Located(NamedTuple):
    """People matched with the values of the auxiliary tables."""

    lines: NDArray[np.int64]
    """The distinct people, each as one value per block; -1 if no group lists the value."""
    of_point: NDArray[np.int64]
    """The index of each person's line."""
    shown: Shown
    firsts: NDArray[np.int64]
    """The first value of each block, followed by the number of all values."""


def located(release: AmbiguousRelease, people: Sequence[Column]) -> Located:
    """Match people with the values that groups list."""
    given = {column.name: column for column in people}
    if not given:
        raise DiscreetError("a release without quasi-identifiers cannot be matched with anyone")
    shown, firsts = release.listed
    columns = []
    for block, auxiliary in zip(release.blocks, release.auxiliaries, strict=True):
        codes = [
            codes_found(release.attribute(name), listed, given[name].values)[given[name].codes]
            for name, listed in zip(block, auxiliary.columns, strict=True)
        ]
        # 0 stands for a value that is not listed, so that the columns can be numbered as they are
        columns.append((_matched(auxiliary, codes) + 1).astype(np.int32))
    _, at, of_line = ranked_combinations(columns, (np.diff(firsts) + 1).tolist(), len(columns[0]))
    lines = np.stack([column[at] for column in columns], axis=1).astype(np.int64)
    return Located(np.where(lines == 0, -1, lines - 1 + firsts[:-1]), of_line, shown, firsts)


def listed(release: AmbiguousRelease) -> tuple[Shown, NDArray[np.int64]]:
    """The groups that list each value (numbered across all blocks), and the first value of each block."""
    entries, firsts = [], [0]
    for auxiliary in release.auxiliaries:
        of_entry = ranks(line_keys(auxiliary.columns, len(auxiliary.groups)))
        entries.append(of_entry + firsts[-1])
        firsts.append(firsts[-1] + int(of_entry.max(initial=-1)) + 1)
    groups = np.concatenate([auxiliary.groups for auxiliary in release.auxiliaries])
    return kernels.index_groups(np.concatenate(entries), groups, release.groups, firsts[-1]), np.array(firsts)


def _matched(auxiliary: Auxiliary, codes: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The rank of each person's combination among those of a block's entries, -1 if it does not occur."""
    known = np.all([column >= 0 for column in codes], axis=0)
    both = [np.concatenate([entry.codes, code[known]]) for entry, code in zip(auxiliary.columns, codes, strict=True)]
    # with many columns the keys are comparable only within one call, but their order is the same in every call
    keys = numbered(both, [len(column.values) for column in auxiliary.columns], len(both[0]))
    places, occurs = looked_up(distinct(keys[: len(auxiliary.groups)]), keys[len(auxiliary.groups) :])
    result = np.full(len(known), -1, np.int64)
    result[known] = np.where(occurs, places, -1)
    return result


class ByLists(Lookup):
    """Look-up in the auxiliary tables of an ambiguous release."""

    def __init__(self, release: AmbiguousRelease) -> None:
        """Use the groups of this release."""
        self.release, self.quasi, self.sizes, self.ids = release, release.quasi, release.sizes, release.ids
        self._last: tuple[tuple[Column, ...], Located] | None = None

    def combinations(self, original: Sequence[Column]) -> NDArray[np.float64]:
        """The number of combinations of the values that each group lists."""
        return self.release.combinations

    @property
    def known_chances(self) -> NDArray[np.float64]:
        """The beliefs in any of the combinations of the values that each group lists."""
        return self.release.presences

    def located(self, people: Sequence[Column]) -> Located:
        """Match people with the values of the auxiliary tables; remembers the last ones, as audits ask repeatedly."""
        if self._last is None or [*map(id, people)] != [*map(id, self._last[0])]:
            self._last = tuple(people), located(self.release, people)
        return self._last[1]

    def _find(self, people: Sequence[Column], chances: NDArray[np.float64]) -> Matches:
        lines, of_person, shown, _ = self.located(people)
        times, largest, logs = kernels.cover(lines, shown, self.release.groups, chances)
        return Matches(times, largest, 0.0 - np.expm1(logs)).of(of_person)

    def anyone(
        self, original: Sequence[Column], chances: NDArray[np.float64], known: float, limit: float | None = None
    ) -> PresenceBound:
        """The largest combined belief over all combinations of listed values."""
        shown, firsts = self.release.listed
        return most_believed(ValueLists(shown, firsts), chances, known, limit)

    def crowd(self, people: Sequence[Column]) -> NDArray[np.int64]:
        """The number of people all of whose values each group lists."""
        lines, of_person, shown, _ = self.located(people)
        amounts = np.bincount(of_person, minlength=len(lines))
        return np.asarray(covering_kernels.crowds(lines, amounts, shown, self.release.groups), np.int64)

    def summed(self, people: Sequence[Column], rows: NDArray[np.intp], counts: Counts) -> NDArray[np.float64]:
        """The sums over the groups that list all values of each person."""
        lines, of_person, shown, _ = self.located(people)
        number = self.release.groups
        inside = counts.starts, counts.values, counts.amounts, counts.width
        needed, of_row = np.unique(of_person[rows], return_inverse=True)
        sums: NDArray[np.float64] = kernels.mix(lines[needed], shown, number, np.ones(number), *inside)
        return sums[of_row]

    def find_weighed(
        self, people: Sequence[Column], chances: NDArray[np.float64], tell: Tell = no_progress
    ) -> tuple[Matches, NDArray[np.float64]]:
        """The result of ``find``, and the largest belief of an adversary who deems values likelier the more groups list
        them.

        For this adversary a value's weight is the number of groups that list it, and the probability that a row of a
        group has a combination is the product of its values' shares of the weights in the group's lists.
        """
        lines, of_person, shown, firsts = self.located(people)
        lines, of_line = _without_everywhere(lines, shown, firsts, self.release.groups)
        of_person = of_line[of_person]
        many = np.diff(shown.starts).astype(np.float64)
        rooms = np.ones(self.release.groups)
        for first, last in pairwise(firsts.tolist()):
            inside = slice(shown.starts[first], shown.starts[last])
            weights_of = np.repeat(many[first:last], many[first:last].astype(np.int64))
            rooms *= np.bincount(shown.groups[inside], weights=weights_of, minlength=self.release.groups)
        likely = np.divide(self.sizes, rooms, out=np.zeros(len(rooms)), where=rooms > 0)
        weights = np.prod(many[lines], axis=1)
        # groups that say the same are counted together, and the first is the one that weighs most
        by_chance, by_weight = np.argsort(-chances, kind="stable"), np.argsort(-likely, kind="stable")
        ordered, weighty = kernels.renumbered(shown, by_chance), kernels.renumbered(shown, by_weight)
        chances, likely, number = chances[by_chance], np.append(likely[by_weight], 0.0), self.release.groups
        parts = []
        for start in range(0, max(1, len(lines)), LINES):
            tell(start / max(1, len(lines)))
            some = lines[start : start + LINES]
            parts.append((*kernels.cover(some, ordered, number, chances), kernels.foremost(some, weighty, number)))
        times, largest, logs, first = (np.concatenate(part) for part in zip(*parts, strict=True))
        weighed = np.minimum(1.0, likely[first] * weights)
        return Matches(times, largest, 0.0 - np.expm1(logs)).of(of_person), np.asarray(weighed[of_person], np.float64)

    def description(self, group: int) -> dict[str, str]:
        """The extent of the values that a group lists."""
        return self.release.description(group)

    def named(self, group: int) -> str:
        """The number of a group, its size and the number of combinations of its values, in words."""
        combinations = self.release.combinations[group]
        return (
            f"group {self.release.ids[group]} ({wording.rows(int(self.sizes[group]))}, {combinations:,.0f} "
            f"{'combination' if combinations == 1 else 'combinations'} of values)"
        )


def _without_everywhere(
    lines: NDArray[np.int64], shown: Shown, firsts: NDArray[np.int64], groups: int
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Merge, within each block, the values that all groups list, and return the distinct lines.

    Exchanging one such value for another does not change the groups that cover a person. Also returns the index of
    every given line's result.
    """
    alike = np.arange(firsts[-1])
    for first, last in pairwise(firsts.tolist()):
        everywhere = first + np.flatnonzero(np.diff(shown.starts[first : last + 1]) == groups)
        alike[everywhere] = everywhere[:1]
    taken = np.where(lines < 0, -1, np.append(alike, -1)[lines])
    _, at, of_line = ranked_combinations(list(taken.T + 1), [int(firsts[-1]) + 1] * taken.shape[1], len(taken))
    return np.ascontiguousarray(taken[at]), of_line
