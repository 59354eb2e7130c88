"""Load a perturbed release from its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from discreet.errors import DiscreetError
from discreet.releases.folder import Home
from discreet.releases.randomised.load import read_parts
from discreet.releases.randomised.matrix import Matrix
from discreet.releases.randomised.perturbed import PerturbedRelease
from discreet.table.write import read_table

NAMES = ("table", "matrix", "prior")


def load_perturbed(home: Home, manifest: dict[str, Any]) -> PerturbedRelease:
    """Load the release in a folder whose manifest has been read."""
    parts, texts, ending = read_parts(home, manifest, NAMES)
    return PerturbedRelease(matrix=_matrix(home / f"matrix.{ending}", texts), **parts)


def _matrix(path: Path, texts: list[str]) -> Matrix:
    """Read the matrix; its lines and columns must be in the order of the prior."""
    if not path.is_file():
        raise DiscreetError(f"the release is incomplete: {path.name!r} is missing; publish it again")
    table = read_table(path)
    coded = [column.chunk(0) for column in table.columns]
    cells = [np.array(one.dictionary.to_pylist(), object)[one.indices.to_numpy()].tolist() for one in coded]
    if table.column_names[1:] != texts or cells[0] != texts:
        raise DiscreetError(
            f"the lines and columns of {path.name!r} are not the values of the prior, in its order; the file was "
            "damaged or edited, so publish it again"
        )
    return Matrix.from_texts([list(line) for line in zip(*cells[1:], strict=True)])
