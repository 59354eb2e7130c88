"""What is seen of a large release, slice by slice: its groups judged, its order, and the rows that its trace names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.adversary.alignment import align
from discreet.adversary.check import Check, one_sentence
from discreet.adversary.checks import soundness
from discreet.adversary.checks.certain import Certain, certain
from discreet.adversary.checks.totals import excess
from discreet.adversary.checks.trace import EXPLAINED, misplaced, not_widened, place_rows, too_wide, trace_check
from discreet.adversary.verdict import counts_of
from discreet.analyst.loss import losses
from discreet.engines.engine import Engine
from discreet.engines.groups import in_pieces
from discreet.engines.members import Members, read_trace
from discreet.engines.slices import check_columns, release_of, slices
from discreet.engines.tally import Tally
from discreet.engines.vocabulary import Coded, Vocabulary
from discreet.errors import DiscreetError
from discreet.kernels.boxes.boxes import NO_HIGH, NO_LOW
from discreet.principles import Principle, wording
from discreet.principles.counts import Counts
from discreet.progress import Progress
from discreet.releases.attributes import Attribute
from discreet.releases.folder import ManifestFile
from discreet.releases.generalized.release import GeneralizedRelease
from discreet.releases.partition import GROUP
from discreet.table.write import TableFormat, digest, write_pieces

Ints = NDArray[np.int64]
FEW = 10
"""How many faults are named, of each sort."""
UNTRACED = "that descriptions contain the rows of their groups was not checked: give the trace"
OTHERWISE = (
    "the table is not, byte for byte, what is written for its content, so it might tell more; another version of Arrow "
    "may write other bytes: then audit it in memory"
)
WRITTEN = "The table is, byte for byte, the one that is written for its content."


@dataclass
class Examination:
    """What was seen in the table of a release, slice by slice."""

    engine: Engine
    vocabulary: Vocabulary
    file: ManifestFile
    attributes: tuple[Attribute, ...]
    name: str
    """The file of the table."""
    parts: tuple[Principle, ...]
    work: Path
    tell: Progress
    rows: int = 0
    groups: int = 0
    faults: list[str] = field(default_factory=list)
    """Inconsistencies in the table."""
    unplaced: list[str] = field(default_factory=list)
    """What contradicts the trace."""
    disordered: bool = False

    def __post_init__(self) -> None:
        quasi, width = [each for each in self.attributes if each.role == "quasi"], len(self.vocabulary.prior.counts)
        self.tallies = [Tally() for _ in self.parts]
        self.published = np.zeros(width + 1, np.int64)
        self._spans: list[dict[str, tuple[int, int]]] = [{} for _ in quasi]
        """Per quasi-identifier and text: the lowest and the highest code of a row that is described by it."""
        self._certain: list[Certain] = []
        self._value = ""
        """A sensitive value that is published."""
        self.same = False
        self._lost: list[dict[str, float]] = []
        self._last: pa.Table | None = None

    @property
    def _format(self) -> TableFormat:
        return "parquet" if self.name.endswith(".parquet") else "csv"

    def look(self, trace: Path | None) -> None:
        """Look at every slice, and write what was loaded anew."""
        path = self.file.home / self.name
        check_columns(path, [GROUP, *(each.name for each in self.attributes)], self._format)
        members = None
        if trace is not None:
            groups, self.unplaced = read_trace(trace, self.vocabulary.rows, self.work)
            members = Members.of(self.engine, self.vocabulary, groups, self.work)
        anew = self.work / self.name
        write_pieces(in_pieces(self._slices(path, members)), anew, self._format)
        if members is not None and (strays := members.strays + members.rest()):
            self.unplaced.append(f"the trace names groups that the release does not have, for {wording.rows(strays)}")
        if self.rows == 0:
            raise DiscreetError(f"the release in {str(self.file.home)!r} has no rows; publish it again")
        self.same = digest(anew) == digest(path)
        anew.unlink()

    def _slices(self, path: Path, members: Members | None) -> Iterator[pa.Table]:
        """Yield the slices as they are written in order."""
        stated = max(1, self.file.manifest["rows"]["published"])
        for table in slices(path, [GROUP, *(each.name for each in self.attributes)], self._format):
            release = self._release(table)
            ids = release.ids
            if self._last is not None:
                first = table.slice(0, int(np.searchsorted(table.column(0).to_numpy(), ids[0], side="right")))
                pair = self._release(pa.concat_tables([self._last, first]))
                self.disordered |= pair.in_order() is not pair
            self._last = table.slice(int(np.searchsorted(table.column(0).to_numpy(), ids[-1])))
            if (ids != np.arange(self.groups, self.groups + len(ids))).any():
                self._fault(f"The groups of {self.name} are not numbered from 0 on.")
            ordered = release.in_order()
            self.disordered |= ordered is not release
            self.rows, self.groups = self.rows + release.rows, self.groups + len(ids)
            self._value = str(table.column(table.num_columns - 1).slice(0, 1).cast(pa.string())[0].as_py() or "")
            self._judge(release)
            if members is not None:
                self._place(release, *members.until(int(ids[-1])))
            self.tell("auditing", min(1.0, self.rows / stated))
            yield ordered.tables(numbers=self._format == "parquet")["table"]

    def _release(self, table: pa.Table) -> GeneralizedRelease:
        release = release_of(table, self.name, self.file.manifest, self.attributes)
        for fault in release.faults:
            self._fault(fault)
        return release.revealed(self.vocabulary.table)

    def _fault(self, sentence: str) -> None:
        if len(self.faults) < FEW:
            self.faults += [sentence] if sentence not in self.faults else []

    def _judge(self, release: GeneralizedRelease) -> None:
        """Judge the groups of a slice."""
        original, width = self.vocabulary.table, len(self.vocabulary.prior.counts)
        aligned = align(release, original)
        counts = counts_of(aligned, width)
        self.published += np.bincount(aligned.class_of[release.sensitive_codes], minlength=width + 1)
        for part, tally in zip(self.parts, self.tallies, strict=True):
            tally.add(part, release, counts, self.vocabulary.prior)
        self._certain += certain(original.sensitive_attribute, counts, np.zeros(width, np.int64))
        for spans, texts in zip(self._spans, release.texts, strict=True):
            for text in texts.texts:
                spans.setdefault(text, (NO_LOW, NO_HIGH))
        self._lost.append({**losses(release), "rows": release.rows, "groups": release.groups})

    def _place(self, release: GeneralizedRelease, rows: Coded, groups: Ints) -> None:
        """Compare a slice with the rows that the trace puts into its groups."""
        original = self.vocabulary.with_rows(rows.quasi, rows.sensitive)
        aligned, faults = align(release, original), list[str]()
        placed = place_rows(release, release.ids, original, groups, faults)
        if placed is not None:
            faults += misplaced(aligned, *placed) or not_widened(aligned, *placed)
            for axis, (spans, texts) in enumerate(zip(self._spans, release.texts, strict=True)):
                low, high = (np.full(len(texts.texts), end) for end in (NO_LOW, NO_HIGH))
                of_row, codes = texts.of_cell[placed[1]], aligned.columns[axis].codes[placed[0]]
                np.minimum.at(low, of_row, codes)
                np.maximum.at(high, of_row, codes)
                for text, least, most in zip(texts.texts, low.tolist(), high.tolist(), strict=True):
                    spans[text] = min(spans[text][0], least), max(spans[text][1], most)
        if len(self.unplaced) < FEW:
            self.unplaced += faults

    @cached_property
    def sketch(self) -> GeneralizedRelease:
        """A release with every text of the table, and at least as many rows as the vocabulary has."""
        made = self._listing(max(self.vocabulary.table.rows, *map(len, self._spans)))
        return replace(made, faults=tuple(dict.fromkeys((*self._miscounted(), *self.faults))))

    @property
    def bare(self) -> GeneralizedRelease:
        """A release with the attributes of the manifest, and no rows."""
        return self._listing(0)

    def _listing(self, rows: int) -> GeneralizedRelease:
        every = np.arange(rows)
        columns: dict[str, Any] = {GROUP: ([], every), self.attributes[-1].name: ([self._value], 0 * every)}
        for attribute, spans in zip(self.attributes, self._spans, strict=False):
            columns[attribute.name] = list(spans), np.minimum(every, len(spans) - 1)
        return GeneralizedRelease.of_columns(columns, self.file.manifest, self.attributes)

    def _miscounted(self) -> Iterator[str]:
        rows, groups = self.file.manifest["rows"]["published"], self.file.manifest["groups"]
        if rows != self.rows:
            yield f"{self.name} has {self.rows:,} rows, but the manifest says {rows:,}."
        if groups != self.groups:
            yield f"There are {self.groups:,} groups, but the manifest says {groups:,}."

    def written(self) -> list[Check]:
        """Return the checks of spelling and order."""
        if self.sketch.faults:
            return [
                Check("spelling", True, "The spelling of cells was not checked, because the tables are faulty."),
                Check("order", True, "The order of lines was not checked, because the tables are faulty."),
            ]
        faults = self.sketch.descriptions.spelling_faults()
        faults += [OTHERWISE] if not (self.same or self.disordered) else []
        out = f"the lines of {self.name}, or the numbers of their groups, {soundness.OUT_OF_ORDER}"
        order = one_sentence([out]) if self.disordered else soundness.IN_ORDER
        return [
            Check("spelling", not faults, one_sentence(faults) if faults else WRITTEN),
            Check("order", not self.disordered, order),
        ]

    @property
    def left(self) -> Ints:
        """The counts of the values of rows that are not published, which the manifest says that there are none of."""
        left: Ints = np.maximum(self.vocabulary.prior.counts - self.published[:-1], 0)
        return left

    @property
    def certain(self) -> list[Certain]:
        """Whose value is certain, if anybody's is."""
        nobody = Counts.of(np.zeros((0, len(self.left)), np.int64), len(self.left))
        every = [*self._certain, *certain(self.vocabulary.table.sensitive_attribute, nobody, self.left)]
        among = int(self.published[:-1].sum() + self.left.sum())
        return [replace(every[0], people=sum(each.people for each in every), among=among)] if every else []

    def totals(self) -> Check:
        """Check that the published rows are those of the original, value by value."""
        column, had = self.vocabulary.table.sensitive[0], np.append(self.vocabulary.prior.counts, 0)
        strange = int(self.published[-1])

        def name(code: int) -> str:
            return f"{column.name} {column.texts[code]!r}"

        fault = excess(strange, "a sensitive value", self.published[:-1], had[:-1], name)
        if fault is None and self.rows != self.vocabulary.rows:
            left = wording.rows(self.vocabulary.rows - self.rows)
            fault = f"The original has {left} more than the release, and the manifest says that none is withheld."
        sentence = f"The {wording.rows(self.rows)} published make up the original's, and every value occurs as often."
        return Check("totals", fault is None, fault or sentence)

    def support(self, traced: bool) -> tuple[Check, str]:
        """Return whether the original supports the release, and how that was checked."""
        if not traced:
            sentence = "Which rows of the original are in which group was not checked, as no trace was given."
            return Check("support", True, sentence, caveat=UNTRACED), "none"
        faults = list(dict.fromkeys(self.unplaced))
        return trace_check(faults or self._too_wide(), EXPLAINED), "trace"

    def _too_wide(self) -> list[str]:
        """Report intervals with an end that no row has: two rows for each text, the least and the largest it has."""
        sketch, vocabulary = self.sketch, self.vocabulary
        ends = [
            np.array([spans[text] for text in of.texts]) for spans, of in zip(self._spans, sketch.texts, strict=True)
        ]
        codes = [end[of.of_cell].ravel() for end, of in zip(ends, sketch.texts, strict=True)]
        two = vocabulary.with_rows(np.column_stack(codes).astype(np.int32), np.zeros(2 * sketch.rows, np.int32))
        every = np.arange(two.rows)
        return too_wide(align(sketch, two), every, every // 2)

    def losses(self) -> dict[str, float]:
        """Return the losses of all slices: means over rows, but for two."""
        total: dict[str, float] = {}
        for name in self._lost[0] if self._lost else ():
            weights = [1.0 if name in ("discernibility", "rows", "groups") else each["rows"] for each in self._lost]
            total[name] = sum(each[name] * weight for each, weight in zip(self._lost, weights, strict=True))
        rows, groups = total.pop("rows", 1.0), total.pop("groups", 1.0)
        means = {name: loss if name == "discernibility" else loss / rows for name, loss in total.items()}
        return means | ({"average_class_size": rows / groups} if means else {})
