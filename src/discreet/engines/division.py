"""A table divided into parts that fit into memory: a sample is cut, and the rows are sent to the files of the parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.engines.engine import Engine, Seen, changed
from discreet.engines.parts import Counter, Divider, Part, Shelf, joined, merged, refined
from discreet.engines.scale import Scale
from discreet.engines.tree import Grower, Places
from discreet.engines.vocabulary import Coded, Vocabulary, coded, together
from discreet.errors import DiscreetError
from discreet.principles.principle import Principle
from discreet.progress import Progress
from discreet.schemes.cuts.scheme import Cuts

SPARE = 3
"""A part that has so many times the rows that are aimed at, and cannot be divided, is refused."""


@dataclass(frozen=True, eq=False)
class Division:
    """A table that is divided into parts, each of which keeps the promise as one group."""

    engine: Engine
    vocabulary: Vocabulary
    shelf: Shelf
    principle: Principle
    scheme: Cuts
    scale: Scale
    rng: np.random.Generator
    tell: Progress

    def parts(self) -> list[Part]:
        """Return the parts, with the rows counted in their files."""
        vocabulary, shelf, scale = self.vocabulary, self.shelf, self.scale
        places = Places.of(vocabulary, self.scheme.loss, self.scheme.values)
        sample = self._sample(places)
        factor = vocabulary.rows / max(1, len(sample.lots))
        grower = Grower(places, self.principle, vocabulary.prior, factor, scale.part)
        grower = replace(grower, stratified="stratified" in self.scheme.cuts)
        tree = grower.tree(sample)
        divider = Divider(shelf, vocabulary.codes, tree, places, len(vocabulary.counts[-1]))
        done = self._seen("dividing", vocabulary.rows)
        divided = joined(self.engine.over_rows(self._names, self._salt, divider, done))
        self._check_same(divided)
        waiting, parts = merged(tree, divided, self._keeps), []
        while waiting:
            part = waiting.pop()
            if part.rows > 1.5 * scale.part:
                some = min(part.rows, scale.sample[1])
                stratified = replace(grower, factor=part.rows / some, plain=False)
                found = refined(part, shelf, stratified, some, self.rng, self._keeps)
                if len(found) > 1:
                    waiting.extend(found)
                    continue
                if part.rows > SPARE * scale.part:
                    raise DiscreetError(
                        f"{part.rows:,} rows cannot be divided further under this promise and do not fit into memory; "
                        f"allow more, as in {argument('memory', '8GB')}, or promise less"
                    )
            parts.append(part)
        return parts

    @property
    def _names(self) -> list[str]:
        return [column.name for column in self.vocabulary.table.columns]

    @property
    def _salt(self) -> int:
        return int(self.rng.integers(2**63))

    def _keeps(self, counts: NDArray[np.int64]) -> bool:
        return bool(self.principle.holds(counts[None], self.vocabulary.prior)[0])

    def _seen(self, stage: str, most: float) -> Seen:
        """Return what is called with numbers of rows that went by, of so many."""
        done = 0

        def seen(rows: int) -> None:
            nonlocal done
            done += rows
            self.tell(stage, min(1.0, done / most))

        return seen

    def _sample(self, places: Places) -> Coded:
        """Return the places of some rows, or of none if the table is one part."""
        drawn, rows = [], self.vocabulary.rows
        if rows > self.scale.part:
            share = self.scale.sample_of(rows)
            seen = self._seen("sampling", rows * share)
            for some in self.engine.sample(self._names, self._salt, share):
                drawn.append(places.along(coded(self.vocabulary.codes, some)))
                seen(len(some.lots))
        return together(drawn, len(self.vocabulary.table.quasi))

    def _check_same(self, parts: Sequence[Part]) -> None:
        """Raise an error unless the rows in the files of parts are those that were counted, column by column."""
        known = self.vocabulary.counts
        counts = [np.zeros_like(each) for each in known]
        for found in self.engine.over(parts, Counter(self.shelf, tuple(map(len, known)))):
            for own, more in zip(counts, found, strict=True):
                own += more
        if any((own != before).any() for own, before in zip(counts, known, strict=True)):
            raise changed(self.engine.what)
