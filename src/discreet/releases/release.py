"""What every release is, whatever its format: tables and a manifest."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DiscreetError
from discreet.principles.principle import Principle
from discreet.principles.wording import rows
from discreet.releases import folder as files
from discreet.releases.attributes import Attribute
from discreet.releases.descriptions import Descriptions
from discreet.releases.lookup import Lookup
from discreet.releases.passthrough import kept_sentence
from discreet.releases.placement import replace_folder
from discreet.table.grouping import GroupBy
from discreet.table.query import Query
from discreet.table.write import digest, write_table
from discreet.version import __version__


class Release(ABC):
    """What leaves the house, as made by a scheme or as found in a folder."""

    format: ClassVar[str]
    """The name of the format in the manifest."""
    assumptions: ClassVar[tuple[str, ...]]
    """What the reader may assume of every release of the format, in sentences for the manifest."""

    exact_quasi: ClassVar[bool] = False
    """Whether quasi-identifiers are published as they are."""
    hides_presence: ClassVar[bool] = False
    """Whether it is always in doubt who is in the table, so that audits tell how much."""
    about_persons: ClassVar[bool] = False
    """Whether promises can be about persons who have several rows."""

    manifest: dict[str, Any]
    attributes: tuple[Attribute, ...]
    faults: tuple[str, ...]
    """What is wrong with the files, in sentences; always empty for a release that was made here."""
    trace: NDArray[np.int32] | None
    """Private: the published number of every input row's group, -1 when withheld. Known to the maker, never saved."""

    @classmethod
    @abstractmethod
    def load(cls, home: Path, manifest: dict[str, Any]) -> Release:
        """The release in a folder whose manifest has been read; what is inconsistent in it is told in ``faults``."""

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many rows are published."""

    @property
    def descriptions(self) -> Descriptions | None:
        """What quasi-identifiers are published under; None for a format that does not describe them."""
        return None

    @abstractmethod
    def lookup(self) -> Lookup:
        """How people are looked up in it: which groups may hold them."""

    def __repr__(self) -> str:
        # short, and without the trace: a notebook keeps what it shows
        promise = self.manifest.get("promise", "nothing")  # files may state anything
        said = " & ".join(map(str, promise)) if isinstance(promise, list) else str(promise)
        return f"<{self.format} release of {rows(self.rows)}, {self.withheld:,} withheld: {said}>"

    @property
    def withheld(self) -> int:
        """How many rows of the original are not published, as the manifest says."""
        return int(self.manifest["rows"]["withheld"])

    @property
    def quasi(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers."""
        return tuple(attribute for attribute in self.attributes if attribute.role == "quasi")

    @classmethod
    def assumed(cls, attributes: Sequence[Attribute], promise: Principle, persons: bool = False) -> tuple[str, ...]:
        """What the reader may assume of a release with these attributes that makes this promise; ``persons`` when it is
        about persons who may have several rows."""
        kept = [attribute.name for attribute in attributes if attribute.role == "other"]
        return (*cls.assumptions, kept_sentence(kept)) if kept else cls.assumptions

    @abstractmethod
    def tables(self, numbers: bool) -> dict[str, pa.Table]:
        """The tables by name; with ``numbers``, columns of numbers are typed so, else they are texts as well."""

    @abstractmethod
    def beliefs(self, points: Mapping[str, ArrayLike], withheld: ArrayLike | None = None) -> NDArray[np.float64]:
        """What an adversary who knows these quasi-identifiers believes about the sensitive value, a line per point."""

    @abstractmethod
    def presence(self, points: Mapping[str, ArrayLike], *, combined: bool = False) -> NDArray[np.float64]:
        """The belief that a person with these quasi-identifiers is in the table at all, one number per point.

        By the one group that may hold the person, the most telling one if there are several; with ``combined`` by all
        of them together. NaN where no group may and rows are withheld, of which nothing is known.
        """

    @abstractmethod
    def known_values(self, name: str) -> NDArray[Any]:
        """The values of a column that the release tells of, in their order; what is missing may be among them."""

    @abstractmethod
    def estimates(self, queries: Sequence[Query]) -> NDArray[np.float64]:
        """How many rows satisfy each query, as far as the release tells; withheld rows are not estimated."""

    def estimate(self, query: Query | str) -> float:
        """How many rows satisfy a query: a `Query`, or ``SELECT COUNT(*) FROM t WHERE ...`` as text.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> dc.publish(patients(), dc.KAnonymity(4)).estimate("SELECT COUNT(*) FROM t WHERE age >= 0")
        48.0
        """
        return float(self.estimates([self.query(query) if isinstance(query, str) else query])[0])

    def query(self, text: str) -> Query:
        """The query that a text of SQL asks of this release."""
        from discreet.table.sql import parse_count

        return parse_count(text, {attribute.name: attribute.meaning for attribute in self.attributes})

    def group_by(self, counts: GroupBy | str) -> pa.Table:
        """How many rows satisfy some conditions, by the values of some columns: a table with a line per cell.

        Given as a `GroupBy`, or as ``SELECT sex, COUNT(*) FROM t WHERE ... GROUP BY sex``. Each cell is estimated by a
        query of its own, over the values that the release tells of; cells estimated at 0 are not listed.

        >>> import discreet as dc
        >>> from discreet.datasets import patients
        >>> release = dc.publish(patients(), dc.KAnonymity(4))
        >>> release.group_by("SELECT sex, COUNT(*) FROM t GROUP BY sex").to_pydict()
        {'sex': ['F', 'M'], 'count': [24.0, 24.0]}
        """
        from discreet.releases.group_by import grouped_estimates

        return grouped_estimates(self, self.grouping(counts) if isinstance(counts, str) else counts)

    def grouping(self, text: str) -> GroupBy:
        """The counts by group that a text of SQL asks of this release."""
        from discreet.table.sql_groups import parse_group_by

        return parse_group_by(text, {attribute.name: attribute.meaning for attribute in self.attributes})

    def save(
        self, folder: str | os.PathLike[str], format: Literal["csv", "parquet"] = "csv", force: bool = False
    ) -> Path:
        """Write the release as a folder, in one step: either all of it is there afterwards, or nothing has changed.

        A folder that is not empty is only replaced with ``force``, and only when it holds a release and nothing else.
        """
        if format not in ("csv", "parquet"):
            raise DiscreetError(f"a release is written as csv or parquet, not as {format!r}")

        def write(home: Path) -> None:
            written = {}
            for name, table in self.tables(numbers=format == "parquet").items():
                path = home / f"{name}.{format}"
                write_table(table, path, format)
                written[path.name] = {"sha256": digest(path)}
            files.write_manifest(home, {**self.manifest, "tables": written})

        return replace_folder(folder, write, force)


def new_manifest(
    format: str,
    *,
    scheme: str,
    options: Mapping[str, Any],
    promise: Principle,
    attributes: Sequence[Attribute],
    rows: int,
    withheld: int,
    assumptions: Sequence[str],
    seeded: bool,
    **more: Any,
) -> dict[str, Any]:
    """What every manifest says, and what a format adds (``more``).

    A seed is never in it, only the warning that there was one: whoever knows it can tell whose row is whose.
    """
    public = {name: value for name, value in options.items() if name not in ("random_state", "seed")}
    manifest: dict[str, Any] = {
        "discreet": __version__,
        "format": format,
        "format_version": files.FORMAT_VERSION,
        "scheme": {"name": scheme, "options": public},
        "promise": [part.text for part in promise.parts],
        "attributes": [attribute.as_dict() for attribute in attributes],
        "rows": {"published": rows, "withheld": withheld},
        **more,
        "tables": {},
        "assumptions": list(assumptions),
    }
    if seeded:
        manifest["experimental_seed"] = True
    return manifest
