"""`discreet reproduce` writes what it measured, resumes, and loses nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from discreet.errors import DiscreetError
from discreet.evidence.claims import within
from discreet.evidence.experiment import Axis, Experiment
from discreet.evidence.ground import Ground
from discreet.evidence.registry import chosen, experiments
from discreet.evidence.results import Result
from discreet.evidence.run import reproduce
from discreet.progress import Cancelled
from support.command import refused, run

CALLS: list[float] = []


def doubled(ground: Ground, place: float) -> Iterator[dict[str, Any]]:
    CALLS.append(place)
    yield {"method": "twice", "loss": 2.0 * place, "rows": ground.rows}
    yield {"method": "never", "refused": "it refuses"}


TOY = Experiment(
    paper="toy",
    figure="1",
    title="Twice a number",
    found="It is at most 4.",
    x=Axis("x", "x"),
    y=(Axis("loss", "loss"),),
    places=(1.0, 2.0),
    measure=doubled,
    claims=(within("loss", "twice", 4.0),),
)


@pytest.fixture(autouse=True)
def no_calls() -> None:
    CALLS.clear()


def made(folder: Path, one: Experiment = TOY, **how: Any) -> Result:
    [result] = reproduce([one], folder, rows=how.pop("rows", 10), **how)
    return result


def test_a_result_is_complete_in_all_its_files(tmp_path: Path) -> None:
    result = made(tmp_path, seed=3)
    assert result.verdict is not None and result.verdict.holds
    document = json.loads((tmp_path / "toy-1.json").read_text(encoding="utf-8"))
    assert document["holds"] is True and document["done"] == [1.0, 2.0] and document["seed"] == 3
    assert document["command"] == "discreet reproduce toy/1 --rows 10 --seed 3"
    assert [one.get("loss") for one in document["records"]] == [2.0, None, 4.0, None]
    table = pq.read_table(tmp_path / "toy-1.parquet")
    assert table.column("loss").to_pylist() == [2.0, None, 4.0, None]
    assert table.schema.metadata[b"rows"] == b"10" and table.schema.metadata[b"version"]
    assert (tmp_path / "toy-1.svg").read_text(encoding="utf-8").startswith("<svg ")
    page = (tmp_path / "reproduced.html").read_text(encoding="utf-8")
    assert "It is at most 4." in page and "<svg " in page and "src=" not in page and "<link" not in page
    assert "| twice | 2 | 4 |" in (tmp_path / "reproduced.md").read_text(encoding="utf-8")


def test_what_was_measured_is_not_measured_again(tmp_path: Path) -> None:
    def interrupt(what: str, share: float) -> None:
        if share:
            assert "left)" in what
            raise Cancelled

    with pytest.raises(Cancelled):
        made(tmp_path, progress=interrupt)
    assert CALLS == [1.0] and not (tmp_path / "toy-1.parquet").exists()
    assert made(tmp_path).complete and CALLS == [1.0, 2.0]
    assert made(tmp_path).complete and CALLS == [1.0, 2.0]


def test_results_with_other_settings_are_not_replaced(tmp_path: Path) -> None:
    made(tmp_path)
    before = (tmp_path / "toy-1.json").read_bytes()
    with pytest.raises(DiscreetError, match="was measured with rows 10; choose another output"):
        made(tmp_path, rows=20)
    (tmp_path / "toy-2.json").write_text("[1]")
    with pytest.raises(DiscreetError, match="is no result of an experiment"):
        made(tmp_path, replace(TOY, figure="2"))
    assert (tmp_path / "toy-1.json").read_bytes() == before and CALLS == [1.0, 2.0]


def test_an_experiment_that_the_data_do_not_suit_says_why(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("age\n30\n")

    def only_generated(ground: Ground, place: float) -> Iterator[dict[str, Any]]:
        ground.generated_only("a census")
        yield from doubled(ground, place)

    result = made(tmp_path, replace(TOY, measure=only_generated), data=str(tmp_path / "people.csv"))
    assert result.verdict is None and "which is always generated" in result.refused
    assert json.loads((tmp_path / "toy-1.json").read_text(encoding="utf-8"))["holds"] is None
    assert "cannot be judged" in (tmp_path / "reproduced.md").read_text(encoding="utf-8")


def test_what_is_asked_for_is_found_and_what_does_not_exist_is_refused() -> None:
    assert chosen(["all"]) == list(experiments().values())
    assert {one.paper for one in chosen(["beta-likeness"])} == {"beta-likeness"}
    assert [one.name for one in chosen(["beta-likeness/5", "beta-likeness/5"])] == ["beta-likeness/5"]
    with pytest.raises(DiscreetError, match=r"no experiment is called 'beta-likeness/55'; .*'beta-likeness/5'"):
        chosen(["beta-likeness/55"])


def test_the_command_lists_and_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    listed = json.loads(run("reproduce", "list", "--json").stdout)
    assert {one["experiment"] for one in listed} == set(experiments())
    assert "beta-likeness/4a" in run("reproduce").stdout
    assert "give it alone" in refused("reproduce", "list", "all")
    assert "there is no file 'nowhere.csv'" in refused("reproduce", "all", "--data", "nowhere.csv")
    assert "there is no 'adult.csv' here" in refused("reproduce", "all", "--data", "adult")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_command_measures_a_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("reproduce", "beta-likeness/table-7", "--rows", "500", "--quick")
    assert "beta-likeness/table-7" in result.stdout and "t of BUREL is" in result.stderr
    assert (tmp_path / "reproduced" / "beta-likeness-table-7.svg").exists()


@pytest.mark.slow
def test_a_file_with_the_columns_of_the_census_is_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("data", "get", "census", "--rows", "500")
    words = ("reproduce", "beta-likeness/table-7", "--data", "census.csv", "--quick", "--json")
    [result] = json.loads(run(*words).stdout)
    assert result["data"] == "census.csv" and len(result["done"]) == 5
