"""Columns with very many distinct values: nothing is done per value that takes as long as there are values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.releases.passthrough import FEW
from discreet.table.table import Column
from support.effort import growth


def _names(number: int) -> list[str]:
    return [f"name {at:06d}" for at in range(number)]


def _table(names: list[str], **more: object) -> dc.Table:
    rows = len(names)
    columns = {"name": names, "age": np.arange(rows) % 60, "disease": [f"d{at % 7}" for at in range(rows)]}
    return dc.read(pa.table(columns), quasi=["name", "age"], sensitive="disease", categorical=["name"], **more)


def test_the_texts_of_a_column_are_made_once():
    column = Column("x", "categorical", np.zeros(1, np.int32), np.array(["a", "b"], object))
    assert column.texts is column.texts


@pytest.mark.slow
@pytest.mark.parametrize(
    ("quasi", "sensitive", "promise", "scheme"),
    [
        (["age"], "name", "k-anonymity(k=5)", "mondrian"),
        (["age"], "name", "alpha-beta(alpha=1, beta=0.5)", "ambiguity"),
        (["name", "age"], "disease", "beta-likeness(beta=2)", "perturbation"),
    ],
)
def test_an_audit_takes_four_times_as_long_for_four_times_as_many_values(tmp_path, quasi, sensitive, promise, scheme):
    # a loop over all texts per value makes it sixteen times; a quiet machine shows about four
    def audited(number: int) -> Callable[[], None]:
        names = [name for name in _names(number) for _ in range(2)]  # two rows each, so that nobody is named
        rows = np.arange(len(names))
        columns = {"name": names, "age": rows % 60, "disease": [f"d{at % 7}" for at in rows]}
        table = dc.read(pa.table(columns), quasi=quasi, sensitive=sensitive, categorical=["name"])
        folder = tmp_path / f"{number}"
        release = dc.publish(table, promise, scheme)
        release.save(folder)

        def work() -> None:
            assert dc.audit(folder, table, trace=release.trace).holds

        return work

    audited(1_000)()
    assert growth(audited(5_000), audited(20_000)) < 9


def test_labels_of_ordered_values_are_looked_up_and_not_searched_for():
    from discreet.releases import descriptions

    class Values(tuple):
        def index(self, *_):
            raise AssertionError("a search through all values")

    tree = dc.Hierarchy.from_rows("x", [("a", "x"), ("b", "x"), ("c", "y"), ("d", "y")])
    attribute = descriptions.Attribute("x", "quasi", "ordinal", values=Values("abcd"), hierarchy=tree)
    texts = ["{a, b}", "y", "c"]
    from discreet.releases.labels import parse

    assert descriptions._descriptions(attribute, texts, parse(attribute, texts)) == []


# ----------------------------------------------------------------------------------------- who has a value of one's own


@pytest.mark.parametrize("scheme", ["cuts", "anatomy", "ambiguity", "perturbation"])
def test_a_quasi_identifier_that_names_persons_is_refused(scheme):
    promise = {"anatomy": "l-diversity(l=2)", "ambiguity": "alpha-beta(alpha=1, beta=0.5)"}.get(
        scheme, "beta-likeness(beta=2)"
    )
    with pytest.raises(dc.DiscreetError, match=r"60 of the 60 rows .* quasi-identifier 'name' .* hierarchy"):
        dc.publish(_table(_names(60)), promise, scheme)


def test_what_is_no_name_is_published():
    promise = "k-anonymity(k=5)"
    by_prefix = _table(_names(60), hierarchies={"name": {"prefix": {"keep": [10]}}})
    listed = _table(_names(60), hierarchies={"name": {name: {} for name in _names(60)}})
    half = _table(_names(60) + _names(30))
    small = _table(_names(FEW))
    for table in (by_prefix, listed, half, small):
        assert dc.publish(table, promise).rows == table.rows
    numbers = pa.table({"x": np.arange(60.0), "s": [f"d{at % 7}" for at in range(60)]})
    assert dc.publish(dc.read(numbers, quasi=["x"], sensitive="s"), promise).rows == 60
    ordered = pa.table({"x": _names(60), "s": [f"d{at % 7}" for at in range(60)]})
    assert dc.publish(dc.read(ordered, quasi=["x"], sensitive="s", ordinal=["x"]), promise).rows == 60


def test_the_command_line_names_the_column_and_writes_nothing(tmp_path):
    from discreet.command.main import main

    lines = ["name,age,disease", *(f"{name},{at % 60},d{at % 7}" for at, name in enumerate(_names(60)))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    words = ["publish", str(tmp_path / "people.csv"), "-o", str(tmp_path / "r"), "--quasi", "name,age"]
    result = CliRunner().invoke(main, [*words, "--sensitive", "disease", "--promise", "beta-likeness(beta=2)"])
    assert result.exit_code == 2
    assert "quasi-identifier 'name'" in result.stderr
    assert [one.name for one in tmp_path.iterdir()] == ["people.csv"]
