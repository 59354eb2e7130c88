"""A release whose tables were emptied is no release, and the audit says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.adversary.audit import audit
from discreet.errors import DiscreetError
from support.formats import MAKERS, published_as
from support.one_of_each import people
from support.tampering import Folder, altered


def emptied(folder: Folder) -> None:
    """Remove all lines but those of tables about the release as a whole."""
    kept = ("prior", "matrix")
    folder.tables = {name: lines if name in kept else lines[:1] for name, lines in folder.tables.items()}


@pytest.mark.parametrize("format", MAKERS)
def test_a_table_without_lines_is_found(format: str, tmp_path: Path) -> None:
    table = people(keep=False)
    published_as(format, table).save(tmp_path / "release")
    altered(tmp_path / "release", tmp_path / "emptied", emptied)
    with pytest.raises(DiscreetError, match="has no rows; it was damaged or edited"):
        audit(tmp_path / "emptied", table, promises="alpha-beta(alpha=0.9, beta=0.9)")


def test_a_list_without_values_is_found(tmp_path: Path) -> None:
    table = people(keep=False)
    published_as("ambiguous", table).save(tmp_path / "release")
    name = next(name for name in Folder(tmp_path / "release").tables if name != "sensitive")

    def without_values(folder: Folder) -> None:
        folder.tables[name] = folder.tables[name][:1]

    altered(tmp_path / "release", tmp_path / "emptied", without_values)
    with pytest.raises(DiscreetError, match=f"'{name}.csv' of the release has no rows; it was damaged or edited"):
        audit(tmp_path / "emptied", table)
