"""The matrix of schemes and promises holds both ways: what is claimed is kept, and what is not is refused."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dc
from discreet.principles import PRINCIPLES, Prior, parse
from discreet.table.table import Table
from support.audits import audits
from support.claims import CLAIMS, LABELS, made, pairs

REFUSED = [(scheme, promise) for promise in CLAIMS for scheme in LABELS if scheme not in CLAIMS[promise]]


@pytest.fixture(scope="module")
def people() -> Table:
    """A table that can keep every promise of the matrix: twelve numbers, equally frequent and far apart, in 4 nodes."""
    rng = np.random.default_rng(1)
    rows = 60
    columns = {
        "age": rng.integers(20, 60, rows),
        "height": rng.integers(150, 200, rows),
        "sex": rng.choice(["f", "m"], rows),
        "pay": 10 * 2 ** rng.permutation(np.arange(rows) % 12),
    }
    pays = [str(10 * 2**at) for at in range(12)]
    tree = dc.Hierarchy.of("pay", {f"class {at}": tuple(pays[3 * at : 3 * at + 3]) for at in range(4)})
    return dc.read(
        pa.table(columns), quasi=["age", "height", "sex"], sensitive="pay", numeric=["pay"], hierarchies={"pay": tree}
    )


def test_every_scheme_and_every_promise_is_in_the_matrix() -> None:
    assert {scheme for schemes in CLAIMS.values() for scheme in schemes} == set(LABELS)
    assert {part.name for promise in CLAIMS for part in parse(promise).parts} == set(PRINCIPLES)
    assert all(str(parse(promise)) == promise for promise in CLAIMS)


@pytest.mark.parametrize(("scheme", "promise"), pairs(CLAIMS))
def test_what_is_claimed_is_published_and_audited(people: Table, scheme: str, promise: str) -> None:
    release = made(scheme).publish(people, parse(promise))
    assert release.rows == people.rows
    audits(release, people, promises=promise)


@pytest.mark.parametrize(("scheme", "promise"), REFUSED)
def test_what_is_not_claimed_is_refused_with_a_way_out(people: Table, scheme: str, promise: str) -> None:
    """And before anything is tried: the scheme itself says that the promise is none of its kind."""
    assert made(scheme).refusal(parse(promise), Prior.of(people)) is not None
    with pytest.raises(dc.DiscreetError, match=r"; (.*, or )?(for .* choose scheme '(\w+)'|ask for l=3)") as refusal:
        made(scheme).publish(people, parse(promise))
    way = refusal.value.args[0].partition("choose scheme '")[2].partition("'")[0]
    assert not way or way in {label.partition(":")[0] for label in CLAIMS[promise]}
