"""From a source to the files of a release: count, cut a sample, divide, group, write, and judge what was written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from discreet.arguments import argument
from discreet.engines.division import Division
from discreet.engines.engine import Engine, changed
from discreet.engines.groups import WHOSE, Described, Describer, noted, pieces
from discreet.engines.parts import Shelf
from discreet.engines.scale import Scale
from discreet.engines.vocabulary import Vocabulary
from discreet.errors import DiscreetError
from discreet.principles.counts import Counts
from discreet.principles.per_attribute import Promised
from discreet.principles.principle import Principle, conjunction
from discreet.progress import Progress, no_progress
from discreet.randomness import generator
from discreet.releases.columns import read_sensitive
from discreet.releases.folder import write_manifest
from discreet.releases.grid import column_unit
from discreet.releases.partition import GROUP
from discreet.releases.release import Release
from discreet.releases.statement import Statement
from discreet.schemes.cuts.scheme import Cuts
from discreet.schemes.default_scheme import bounds_presence
from discreet.schemes.scheme import Scheme, check_kept_by
from discreet.table.spec import TableSpec
from discreet.table.texts import near
from discreet.table.write import PIECE_ROWS, TableFormat, digest, read_pieces, write_pieces


@dataclass(frozen=True)
class Written:
    """What was published, as it was counted in the files."""

    rows: int
    groups: int
    parts: int
    largest: int
    """The rows of the largest part."""
    scheme: dict[str, Any]
    """The scheme and its options, as the manifest has them."""
    achieved: dict[str, float]
    """Per promise the strongest parameter that all groups keep."""


def check_supported(spec: TableSpec, principle: Principle, scheme: Scheme, engine: str = "duckdb") -> Cuts:
    """Return the scheme if engines can publish with it; refuse everything that they do not do yet."""

    def refuse(what: str) -> DiscreetError:
        return DiscreetError(f"the engine {engine} does not publish {what} yet; say {argument('engine', 'memory')}")

    if not isinstance(scheme, Cuts):
        raise refuse(f"with the scheme {scheme.name!r}, only with cuts and mondrian")
    given = {
        **unread(spec),
        "under promises about presence": bounds_presence(principle),
        "exact descriptions": scheme.exact,
        "counts of quasi-identifiers": scheme.counts_columns,
        "groups that nobody fits two of": scheme.overlap == "none",
        "releases that withhold rows": scheme.withhold or spec.missing == "withhold",
    }
    for what, asked in given.items():
        if asked:
            raise refuse(what)
    return scheme


def unread(spec: TableSpec) -> dict[str, bool]:
    """Return what engines do not do with tables, and whether a spec asks for it."""
    number = len(spec.roles.sensitive)
    return {
        f"tables with {number or 'no'} sensitive attributes, only with one,": number != 1,
        "persons who have several rows": bool(spec.roles.person),
        "columns as they are": bool(spec.roles.other),
        "several values per person": bool(spec.lists or spec.join),
        "rows that satisfy a condition": spec.where is not None,
        "bins by quantiles": any(isinstance(fit.bins, int) for fit in spec.fits.values()),
    }


def publish(
    engine: Engine,
    spec: TableSpec,
    principle: Principle,
    scheme: Cuts,
    scale: Scale,
    work: Path,
    home: Path,
    format: TableFormat = "csv",
    progress: Progress | None = None,
    trace: Path | None = None,
) -> Written:
    """Publish a table into the folder ``home``; ``work`` is a private folder for what is needed meanwhile. The group of
    every row goes into the file ``trace``, which is there and empty.

    When this returns, the files are complete, and what is promised was judged in them; if not, it raises.
    """
    tell, rng = progress or no_progress, generator(scheme.random_state)
    vocabulary = counted(engine, spec, tell)
    prior = vocabulary.prior
    _check_whole(scheme, principle, vocabulary)
    principle = conjunction(part.stated(prior) for part in principle.parts)
    shelf = Shelf(work, len(vocabulary.counts), trace is not None)
    parts = Division(engine, vocabulary, shelf, principle, scheme, scale, rng, tell).parts()
    describer, found = Describer(vocabulary, scheme, principle, shelf), list[Described]()
    given = zip(range(len(parts)), parts, rng.spawn(len(parts)), strict=True)
    for part, made in zip(parts, engine.over(given, describer), strict=True):
        found.append(made)
        tell("grouping", len(found) / len(parts))
        for file in part.files:
            file.unlink()
    tell("saving", 0.0)
    release = describer.release(Statement(**scheme.statement(principle)), found)
    home.mkdir(exist_ok=True)
    table = home / f"table.{format}"
    lines = engine.in_order([made.file for made in found], describer.columns, [WHOSE] if shelf.traced else [])
    whose = np.memmap(work / "trace", np.int64, "w+", shape=(vocabulary.rows if shelf.traced else 1,))
    whose[:] = -1
    lines = noted(lines, work, whose) if shelf.traced else lines
    write_pieces(pieces(lines, release, format == "parquet"), table, format)
    engine.check_unchanged()
    tell("auditing", 0.0)
    groups = sum(made.groups for made in found)
    achieved = _judged(table, format, release, describer, groups)
    write_manifest(home, {**release.manifest, "tables": {table.name: {"sha256": digest(table)}}})
    if trace is not None:
        _write_trace(whose, trace)
    largest = max(part.rows for part in parts)
    return Written(vocabulary.rows, groups, len(parts), largest, release.manifest["scheme"], achieved)


def _write_trace(groups: NDArray[np.int64], trace: Path) -> None:
    """Write the group of every row; all must have one."""

    def lines() -> Iterator[pa.Table]:
        for start in range(0, len(groups), PIECE_ROWS):
            some = np.asarray(groups[start : start + PIECE_ROWS])
            if some.min() < 0:
                raise AssertionError("the trace does not name every row; nothing was published")
            yield pa.table({"row": start + np.arange(len(some)), GROUP: some})

    write_pieces(lines(), trace, "csv")


def counted(engine: Engine, spec: TableSpec, tell: Progress, published: bool = True) -> Vocabulary:
    """Return the vocabulary of the table, as it is ``published`` or as it was read, after one pass over each column."""
    names = (*spec.roles.quasi, *spec.roles.sensitive)
    check_columns(engine, (*names, *spec.roles.identifiers), names)
    for name in spec.roles.identifiers:
        if engine.repeats(name):
            raise DiscreetError(
                f"the identifier {name!r} has repeated values, so persons may have several rows, and the engine "
                f"{engine.name} does not publish these yet; say {argument('engine', 'memory')}"
            )
    found = []
    for number, name in enumerate(names):
        tell("counting", number / len(names))
        found.append(engine.count(name))
    if len({int(each.rows.sum()) for each in found}) > 1:
        raise changed(engine.what)
    return Vocabulary.of(found, spec, engine.untyped, published)


def check_columns(engine: Engine, needed: Sequence[str], read: Sequence[str]) -> None:
    """Raise an error for columns that a table does not have, or of types that engines do not read."""
    schema, what = engine.schema, engine.what
    alike = [name.casefold() for name in schema.names]
    for name in needed:
        if name not in schema.names:
            raise DiscreetError(f"there is no column {name!r} in {what}; {near(name, schema.names)}")
        if alike.count(name.casefold()) > 1:
            raise DiscreetError(
                f"{what} has several columns called {name!r}, in upper or lower case, which the engine "
                f"{engine.name} does not tell apart; rename them, or say {argument('engine', 'memory')}"
            )
    types = pa.types
    plain = (types.is_integer, types.is_string, types.is_large_string, types.is_boolean, types.is_date32)
    for name in read:
        kind = schema.field(name).type
        inner = kind.value_type if types.is_dictionary(kind) and not kind.ordered else kind
        known = any(test(inner) for test in plain) or types.is_float64(kind) or types.is_float32(kind)
        if not known and not (types.is_timestamp(kind) and kind.tz is None):
            raise DiscreetError(
                f"column {name!r} is of the type {kind}, which the engine {engine.name} does not read yet; say "
                f"{argument('engine', 'memory')}"
            )


def _check_whole(scheme: Cuts, principle: Principle, vocabulary: Vocabulary) -> None:
    """Raise an error unless the scheme makes this promise, and the table keeps it as one group."""
    prior = vocabulary.prior
    for column in vocabulary.table.quasi if scheme.snap is True else ():
        column_unit(column)
    check_kept_by(scheme, principle, [Promised(prior, principle)])
    if not principle.holds(prior.counts[None], prior)[0]:
        raise DiscreetError(
            f"scheme {scheme.name!r} starts with all rows as one group, which breaks the promise: "
            f"{principle.explain(prior.counts, prior)} Instead, say {argument('engine', 'memory')}."
        )


def _judged(path: Path, format: TableFormat, release: Release, describer: Describer, groups: int) -> dict[str, float]:
    """Judge the groups as they stand in a file, which must hold all rows; return what each promise achieved."""
    prior, principle = describer.vocabulary.prior, describer.principle
    attribute, exact = release.sensitive_attribute, describer.sensitive
    code_of = np.empty(len(exact.values), np.int64)
    code_of[exact.codes] = np.arange(len(exact.codes))
    width, total, after = len(prior.counts), np.zeros(len(prior.counts), np.int64), 0
    worst: dict[str, list[float]] = {str(part): [] for part in principle.parts}
    held = np.zeros(0, np.int64)
    batches = read_pieces(path, [GROUP, attribute.name], format)
    for batch in _and_last(batches):
        if batch is not None:
            coded = batch.column(1).cast(pa.string()).fill_null("").dictionary_encode()
            faults: list[str] = []
            column = read_sensitive(attribute, coded.dictionary.to_pylist(), coded.indices.to_numpy(), faults)
            places = _places(column.values, exact.values)
            numbers = batch.column(0).cast(pa.int64()).to_numpy()
            held = np.concatenate([held, numbers * width + code_of[places[column.codes]]])
            whole = held // width < numbers[-1]
        else:
            whole = np.ones(len(held), np.bool_)
        cells, held = held[whole], held[~whole]
        if not len(cells):
            continue
        own = cells // width - after
        number = int(own.max()) + 1
        if own.min() < 0 or (np.diff(own) < 0).any() or len(np.unique(own)) < number:
            raise AssertionError("groups are not numbered in order; nothing was published")
        counts = Counts.of_rows(own, cells % width, number, width)
        if not principle.holds(counts, prior).all():
            raise AssertionError(f"a group breaks {principle}; nothing was published")
        for part in principle.parts:
            worst[str(part)].append(part.achieved(counts, prior))
        total += np.bincount(cells % width, minlength=width)
        after += number
    if after != groups or (total != prior.counts).any():
        raise AssertionError("the files do not hold the rows of the table; nothing was published")
    return {str(part): part.weakest(np.array(worst[str(part)])) for part in principle.parts}


def _and_last(batches: Any) -> Any:
    yield from (batch for batch in batches if batch.num_rows)
    yield None


def _places(values: NDArray[Any], known: NDArray[Any]) -> NDArray[np.int64]:
    """Return the place of each value among those that are known; a missing number is the first of them."""
    if known.dtype.kind != "f":
        place = {value: at for at, value in enumerate(known.tolist())}
        return np.array([place[value] for value in values.tolist()], np.int64)
    numbers = np.where(np.isnan(values), -np.inf, values)
    return np.searchsorted(np.where(np.isnan(known), -np.inf, known), numbers)
