"""Schemes that form groups for one sensitive attribute, and merge them for the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from discreet.principles.per_attribute import Promised, by_attribute
from discreet.principles.principle import Principle
from discreet.schemes.buckets.drawing import along_curve, distinct_points
from discreet.schemes.grouping import GroupingScheme, GroupingTask
from discreet.schemes.merge_broken import JudgedAttribute, merge_broken
from discreet.schemes.refusal import Refusal
from discreet.table.table import Table


class LeadingScheme(GroupingScheme):
    """A scheme that makes groups for one sensitive attribute, and merges them until they keep what is promised about
    others."""

    def refusal_of_several(self, principle: Principle, each: Sequence[Promised]) -> Refusal | None:
        """Return why the scheme cannot make these promises about several sensitive attributes; None if it can."""
        if self._leading(each) is None:
            refusal = self.refusal(each[0].promise, each[0].prior)
            return refusal and refusal.about(principle)
        return GroupingScheme.refusal(self, principle, each[0].prior)

    def _leading(self, each: Sequence[Promised]) -> int | None:
        """Return the first attribute about which the scheme can keep what is promised; None if there is none."""
        able = [at for at, (prior, promise) in enumerate(each) if self.refusal(promise, prior) is None]
        return able[0] if able else None

    def groups_for_all(self, table: Table, principle: Principle, task: GroupingTask) -> NDArray[np.int32]:
        """Return groups made for one attribute, merged along a curve until they keep what is promised about all of
        them, as all rows as one group do."""
        if len(table.sensitive) < 2:
            return self.groups(task)
        each = by_attribute(principle, table)
        lead = self._leading(each)
        assert lead is not None, "the promises about each attribute were refused"
        prior, promise = each[lead]
        rows, alone = task.rows, replace(table, sensitive=(table.sensitive[lead],))
        groups = self.groups(replace(task, table=alone, principle=promise, prior=prior))
        points, point_of = distinct_points(table.quasi, rows)
        _, place = along_curve(points)
        attributes = [
            JudgedAttribute(column.codes[rows], promise, prior)
            for column, (prior, promise) in zip(table.sensitive, each, strict=True)
        ]
        return merge_broken(groups, place[point_of], attributes)
