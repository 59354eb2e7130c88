"""An example plug-in: a principle, a format with its auditor, a scheme that makes such releases, and an attack."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.adversary.attacks.attack import Attack, Insight
from discreet.adversary.attacks.target import Target
from discreet.adversary.case import Case, FormatFindings
from discreet.adversary.check import Check
from discreet.adversary.formats.generalized import audit_generalized
from discreet.options import Interval
from discreet.plugins import Format
from discreet.principles.bounds import Bounds
from discreet.principles.counts import Counts
from discreet.principles.principle import Principle, Reach
from discreet.principles.prior import Prior
from discreet.releases.generalization import Values
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.partition import GROUP
from discreet.releases.reading import read_texts
from discreet.schemes.grouping import GroupingScheme, GroupingTask


@dataclass(frozen=True)
class Majority(Principle):
    """No sensitive value has more than ``share`` of a group's rows.

    Monotone: a share in a union lies between the shares in its parts.
    """

    name: ClassVar[str] = "majority"
    example: ClassVar[str] = "'majority(share=0.5)'"

    share: Annotated[float, Interval(0, 1, closed="right")]
    """The largest share of a group's rows that a value may have."""

    def _bounds(self, prior: Prior) -> Bounds:
        self.require(prior)
        caps = np.full(len(prior.values), self.share)
        return Bounds(prior.values, prior.frequencies, caps, reason=f"because of share={self.share}")

    def rules(self, prior: Prior) -> Any:
        """A cap for every value."""
        return self._bounds(prior).rules(len(prior.values))

    def reachable(self, prior: Prior) -> Reach:
        """Feasible if the whole table keeps it."""
        most = float(prior.frequencies.max())
        return Reach(most <= self.share, most, f"The most frequent value has a share of {most:.3f}; ask for as much.")

    def _violation(self, counts: NDArray[np.int64], prior: Prior) -> str:
        return self._bounds(prior).explain(counts)

    def _achieved(self, counts: Counts, prior: Prior) -> float:
        return float(counts.shares.max())


class SizedRelease(GeneralizedRelease):
    """A generalized release with a second table that lists the number of rows of each group."""

    format: ClassVar[str] = "sized"
    more_tables: ClassVar[tuple[str, ...]] = ("sizes",)

    def tables(self, numbers: bool) -> dict[str, pa.Table]:
        """The table of rows and the table of sizes."""
        sizes = pa.table({GROUP: self.ids, "rows": self.sizes})
        return {**super().tables(numbers), "sizes": sizes}

    @classmethod
    def load(cls, home: Path, manifest: dict[str, Any]) -> SizedRelease:
        """Load the release in a folder; sizes that differ from those of its groups are a fault."""
        release = super().load(home, manifest)
        path = next(home / name for name in manifest["tables"] if name.startswith("sizes."))
        columns = read_texts(path, [GROUP, "rows"])
        told = [[words[code] for code in codes] for words, codes in columns.values()]
        if told != [list(map(str, release.ids.tolist())), list(map(str, release.sizes.tolist()))]:
            return replace(release, faults=(*release.faults, f"{path.name} does not tell the sizes of the groups."))
        return release


def audit_sized(case: Case[SizedRelease]) -> FormatFindings:
    """Audit like a generalized release and add a note on the sizes; wrong sizes were already found when loading."""
    found = audit_generalized(case)
    return replace(found, checks=[*found.checks, Check("sizes", True, "The sizes of groups are a table of their own.")])


SIZED = Format(SizedRelease, audit_sized)


@dataclass(frozen=True, kw_only=True)
class Halves(GroupingScheme):
    """Two groups, up to and above the median of the first quasi-identifier, or one if either would break the promise.

    Why the promise is kept: the halves are published only if both keep it; otherwise all rows are one group, and tables
    whose rows as a whole break the promise are refused.
    """

    name: ClassVar[str] = "halves"
    format: ClassVar[type[GeneralizedRelease]] = SizedRelease

    values: Values = "interval"
    random_state: int | None = None

    def groups(self, task: GroupingTask) -> NDArray[np.int32]:
        """The half of every row, or 0 for all rows."""
        codes = task.table.quasi[0].codes[task.rows]
        half = (codes > np.median(codes)).astype(np.int32)
        counts = Counts.of_rows(half, task.classes, 2, len(task.prior.counts))
        return half if bool(task.principle.holds(counts, task.prior).all()) else np.zeros_like(half)


@dataclass(frozen=True)
class Contrary(Attack):
    """Believes what the release says, but never in the most frequent value."""

    name: ClassVar[str] = "contrary"

    def learn(self, target: Target) -> Insight:
        """Nothing is learnt beforehand: people are looked up when they are asked for."""

        def beliefs(part: slice) -> NDArray[np.float64]:
            lines = target.beliefs(part)
            lines[:, target.prior.argmax()] = 0.0
            return lines

        return Insight(beliefs)
