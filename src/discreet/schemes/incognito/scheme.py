"""Incognito (LeFevre, DeWitt and Ramakrishnan, SIGMOD 2005): full-domain generalization, with any monotone promise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal, cast

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError
from discreet.options import Interval
from discreet.principles.principle import Principle, as_principle
from discreet.principles.prior import Prior
from discreet.progress import Progress, no_progress
from discreet.randomness import generator
from discreet.releases.attributes import as_shown
from discreet.releases.descriptions import Texts
from discreet.releases.generalization import Values, generalize
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.partition import PublishedRows
from discreet.releases.release import Release
from discreet.schemes.axes import Loss
from discreet.schemes.default_scheme import bounds_presence
from discreet.schemes.described import Beside, Exactness
from discreet.schemes.grouping import GroupingScheme, GroupingTask, View, published_rows
from discreet.schemes.incognito.generalizations import Generalization, Generalizations
from discreet.schemes.incognito.levels import Levels, levels_of
from discreet.schemes.incognito.search import Judge
from discreet.schemes.refusal import Refusal
from discreet.schemes.scheme import Scheme, feasible
from discreet.schemes.withholding import Withheld
from discreet.table.table import Column, Table
from discreet.table.texts import number_text


@dataclass(frozen=True, eq=False)
class Lattice:
    """All combinations of levels of a table's quasi-identifiers, and which of them keep a promise."""

    quasi: tuple[str, ...]
    kept: NDArray[np.bool_]
    """An axis for each quasi-identifier: whether its levels, from its values to all of them as one, keep the promise
    together with levels of the others; those above a combination that does all do."""
    minimal: tuple[Generalization, ...]
    """The combinations that keep it while none below them does, by ascending loss."""
    judged: int
    """How many combinations had to be judged; all others follow from these."""


@dataclass(frozen=True, kw_only=True)
class Incognito(GroupingScheme):
    """Every quasi-identifier is generalized to one level of its hierarchy, the same for all rows.

    Rows that agree at these levels are a group. Of all combinations of levels that keep the promise, the one with the
    smallest loss is published. Numbers, dates and ordered values without a hierarchy have levels of 32, 16, 8, 4 and 2
    intervals with about equally many rows each.

    The strength of full-domain generalization is that it is easily told and easily analysed: every value stands for
    itself or for the same set of values wherever it is published. It pays for that. A single sparse region forces all
    others to its level, so more is lost than by ``Mondrian`` or ``Cuts``, which need not treat a value alike in all
    groups: on Adult 1.3 to 12 times what the former loses and 2 to 16 times what the latter does
    (``python -m benchmarks incognito``). A few rows withheld help much.

    Why the promise is kept: the groups that are published were all judged by the kernel that audits use, against the
    prior of the whole table; so were withheld rows, as one group. The search takes for granted that unions of groups
    keep what the groups keep, as they do with a monotone promise, but only to leave out levels. Levels depend on
    quasi-identifiers alone; which of them are published depends on sensitive values, and an adversary who knows the
    algorithm may learn something from that, which the promise does not bound.

    Where groups have to be merged beyond what levels do, for promises about presence or persons with several rows, each
    is published under the smallest description of its own rows.

    >>> from discreet.datasets import patients
    >>> from discreet.principles import BetaLikeness
    >>> release = Incognito(random_state=1).publish(patients(), BetaLikeness(2))
    >>> release.withheld, release.groups > 1
    (0, True)
    """

    name: ClassVar[str] = "incognito"

    loss: Loss = "ail"
    """The loss to minimise: ``ail``, ``gcp`` or ``discernibility``."""
    withhold: Withheld = 0.0
    """The largest share of rows that may be withheld where that lowers the loss; a withheld row has loss 1."""
    most_discernibility: Annotated[float, Interval(0, closed="right")] | Literal["any"] = "any"
    """The largest discernibility of what is published, or ``any``."""
    values: Values = "interval"
    snap = False  # its levels are not tight
    descriptions: Exactness = "boxes"
    marginals: Beside = "auto"
    cells: Annotated[int, Interval(1)] = 10

    def refusal(self, principle: Principle, prior: Prior) -> Refusal | None:
        """Refuse promises that unions of groups may break, as the search relies on that."""
        return Scheme.refusal(self, principle, prior) or self.broken_exactly(principle)

    def release_of(self, table: Table, principle: Principle, progress: Progress | None = None) -> Release:
        """Return a release of the table in which every group keeps the promise."""
        release = super().release_of(table, principle, progress)
        if self.exact or table.person is not None or bounds_presence(principle):
            return release
        return at_levels(cast(GeneralizedRelease, release), table, levels_of(table), self.values)

    def search(self, table: Table, principle: Principle | str, progress: Progress | None = None) -> Lattice:
        """Return which combinations of levels keep a promise, and what the minimal ones lose.

        >>> from discreet.datasets import patients
        >>> lattice = Incognito().search(patients(), "k-anonymity(k=3)")
        >>> lattice.quasi, lattice.kept.shape, int(lattice.kept.sum())
        (('age', 'sex', 'zip'), (7, 2, 5), 16)
        >>> [combination.levels for combination in lattice.minimal]
        [(6, 0, 2), (4, 0, 4), (5, 1, 2), (4, 1, 3), (6, 1, 0), (3, 1, 4)]
        """
        if table.person is not None:
            raise DiscreetError(
                "combinations of levels are listed for tables without several rows of a person; leave these out, or "
                "publish the table"
            )
        principle = as_principle(principle)
        feasible(self, table, principle)
        view = self.view(table, principle)
        rows = published_rows(*view, generator(self.random_state))
        generalizations, judge = self._counted(view, rows)
        kept, judged = generalizations.kept(judge, progress or no_progress)
        return Lattice(table.quasi_names, kept, tuple(generalizations.minimal(kept, judge)), judged)

    def groups(self, task: GroupingTask) -> NDArray[np.int32]:
        """Return the group of each of the task's rows; -1 for rows withheld because that lowers the loss."""
        generalizations, judge = self._counted((task.table, task.principle, task.prior), task.rows)
        kept, _ = generalizations.kept(judge, task.progress)
        most = float("inf") if self.most_discernibility == "any" else self.most_discernibility
        best = generalizations.best(kept, judge, most)
        if best is None:
            finest = replace(generalizations, prices=None).best(kept, judge)
            assert finest is not None, "some levels keep the promise: the last ones of all"
            raise DiscreetError(
                f"no levels that keep {task.principle} have a discernibility of at most {number_text(most)}; allow "
                f"most_discernibility={finest.discernibility}, the smallest, or choose scheme 'cuts'"
            )
        return generalizations.groups(best.levels, judge)

    def _counted(self, view: View, rows: NDArray[np.int64]) -> tuple[Generalizations, Judge]:
        """Return the rows, counted, and how to judge their groups."""
        table, principle, prior = view
        generalizations = Generalizations.of(table, rows, len(prior.counts), self.loss, self.values)
        missing = prior.counts - np.bincount(table.sensitive_codes[rows], minlength=len(prior.counts))
        room = max(0, int(self.withhold * prior.rows) - int(missing.sum()))
        least = max(part.least_rows for part in principle.parts)
        return generalizations, Judge(principle.rules(prior), missing, room, least)


def at_levels(release: GeneralizedRelease, table: Table, each: Sequence[Levels], values: Values) -> GeneralizedRelease:
    """Return a release with every quasi-identifier at the lowest level at which no group has two of its nodes.

    A node is published under the smallest description of all rows that it has in any group.
    """
    groups = release.trace
    assert groups is not None, "a release that was just made has a trace"
    texts = tuple(
        _texts(column, levels, groups, release.groups, values) for column, levels in zip(table.quasi, each, strict=True)
    )
    rows = PublishedRows.of_groups(table, groups, labels=values == "label")
    return release.with_texts(rows.described_by(texts), texts).in_order()


def _texts(column: Column, levels: Levels, groups: NDArray[np.int32], number: int, values: Values) -> Texts:
    published = groups >= 0
    rows = np.flatnonzero(published)
    of_group = np.empty(number, np.int32)
    for nodes in levels.nodes:
        of_row = nodes[column.codes]
        of_group[groups[rows]] = of_row[rows]
        if bool((of_group[groups[rows]] == of_row[rows]).all()):
            break
    used = np.bincount(of_group, minlength=len(column.values)) > 0
    place = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
    cells = generalize(as_shown(column, published), np.where(published, place[of_row], -1), int(used.sum()), values)
    return Texts(cells.texts, cells.of_cell[place[of_group]])
