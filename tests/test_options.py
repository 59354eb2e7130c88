"""Options of the wrong type are refused by name: of every scheme, promise and attack, by their annotations alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from pyarrow.csv import write_csv

import discreet as dc
from discreet.adversary.attacks import ATTACKS
from discreet.analyst.workload import volume_workload, workload
from discreet.datasets import census, patients, patients_arrow
from discreet.principles import PRINCIPLES
from discreet.schemes import SCHEMES, make_scheme
from discreet.schemes.cuts.scheme import Mondrian
from support.command import run

GIVEN: dict[str, Any] = {
    "true": True,
    "numpy's true": np.True_,
    "whole": 3,
    "numpy's whole": np.int64(3),
    "huge": 10**5000,
    "whole float": 3.0,
    "fraction": 0.5,
    "numpy's fraction": np.float64(0.5),
    "nan": float("nan"),
    "infinity": float("inf"),
    "complex": 0.5j,
    "text": "?",
    "number in a text": "0.5",
    "truth in a text": "false",
    "bytes": b"fast",
    "none": None,
    "empty": (),
    "numbers": [0.5],
    "texts": ["age", "sex"],
    "lists of texts": [["age", "sex"]],
    "mapping": {"a": 1},
    "array": np.zeros((2, 2)),
    "array of one": np.array([0.5]),
    "object": object(),
    "class": int,
}
TEXTS = {"text", "number in a text", "truth in a text"}
WHOLE = {"whole", "numpy's whole"}
FITS: dict[Any, set[str]] = {
    bool: {"true", "numpy's true"},
    int: {*WHOLE, "huge"},
    float: {*WHOLE, "whole float", "fraction", "numpy's fraction"},
    str: TEXTS,
    NoneType: {"none"},
    Sequence[str]: {"empty", "texts"},
    Sequence[Sequence[str]]: {"empty", "lists of texts"},
}
"""Which of these values fit an annotation; whether they are within its range is no matter of types."""
MORE = {("proximity", "m"): {"whole float"}, ("proximity", "neighbourhood"): {"class"}}
"""Values that a parameter of a promise takes beyond its annotation, or by an annotation of its own."""


def members(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def kinds() -> Iterator[tuple[type[Any], Any]]:
    """Every scheme, promise and attack, with a valid one of its kind."""
    yield from ((kind, kind()) for kind in (*SCHEMES.values(), *ATTACKS.values()))
    yield from ((kind, dc.parse(kind.example.strip("'"))) for kind in PRINCIPLES.values())


OPTIONS = [
    pytest.param(valid, field, get_type_hints(kind)[field.name], id=f"{kind.__name__}-{field.name}")
    for kind, valid in kinds()
    for field in fields(kind)
]


def test_there_are_options_of_every_kind() -> None:
    found = {type(case.values[0]) for case in OPTIONS}
    assert found >= {dc.Cuts, dc.Sealed, dc.KAnonymity, dc.Proximity, dc.Corruption, dc.Minimality}


@pytest.mark.parametrize(("valid", "field", "hint"), OPTIONS)
def test_what_the_annotation_does_not_admit_is_refused_in_one_sentence(valid: Any, field: Any, hint: Any) -> None:
    fits = set().union(*(FITS.get(one, set()) for one in members(hint)), MORE.get((valid.name, field.name), set()))
    refused = set(GIVEN) - fits
    assert refused >= {"object", "bytes", "nan", "mapping", "array"}
    for label in sorted(refused):
        with pytest.raises(dc.DiscreetError) as told:
            replace(valid, **{field.name: GIVEN[label]})
        sentence = str(told.value)
        assert field.name in sentence and "; " in sentence and "\n" not in sentence, (label, sentence)
        assert len(sentence) < 400, (label, sentence)


@pytest.mark.parametrize(
    ("valid", "field", "hint"), [case for case in OPTIONS if {bool, int, float} & set(members(case.values[2]))]
)
def test_scalars_of_numpy_become_those_of_python(valid: Any, field: Any, hint: Any) -> None:
    kind = next(one for one in (bool, int, float) if one in members(hint))
    value = getattr(valid, field.name)
    if value is None or value in (
        "any",
        "auto",
    ):  # a seed, or a number that may be left out and accepts 1 except beside other kinds
        value = kind(value != "auto")
        if valid.name == "l-diversity":
            valid = replace(valid, kind="recursive", c=value)
        if valid.name == "delta-disclosure":  # of which beta takes the place of delta
            valid = replace(valid, delta=None, beta=value)
    for made in {bool: [np.bool_], int: [np.int64, np.uint32], float: [np.float64, np.longdouble]}[kind]:
        again = replace(valid, **{field.name: made(value)})
        assert type(getattr(again, field.name)) is kind and getattr(again, field.name) == value
        assert again == replace(valid, **{field.name: value})


@pytest.mark.parametrize("name", [name for name in SCHEMES if len(fields(SCHEMES[name])) > 1])
def test_options_are_read_from_texts_by_their_annotations(name: str) -> None:
    scheme: Any = SCHEMES[name]()
    texts = {key: str(value) for key, value in scheme.options.items()}
    assert make_scheme(name, texts) == scheme
    for field in fields(scheme):
        hint = get_type_hints(type(scheme))[field.name]
        if field.name != "random_state" and str not in members(hint):
            with pytest.raises(
                dc.DiscreetError, match=rf"^{name}: {field.name} must be .*'perhaps'; correct it, or leave"
            ):
                make_scheme(name, {field.name: "perhaps"})


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: dc.Burel(refine="false"),
            "burel: refine must be true or false, not 'false'; did you mean refine=False?",
        ),
        (
            lambda: dc.Cuts(withhold="0.1"),
            "cuts: withhold must be a number of at least 0 and below 1, not '0.1'; did you mean withhold=0.1?",
        ),
        (
            lambda: dc.Cuts(withhold=1.0),
            "cuts: withhold must be a number of at least 0 and below 1, not 1.0; correct it, or leave it out",
        ),
        (
            lambda: dc.Sealed(random_state="x"),
            "sealed: random_state must be a whole number, not 'x'; correct it, or leave it out",
        ),
        (lambda: dc.Cuts(cuts=5), "cuts: cuts must be a text or a list of texts, not 5; correct it, or leave it out"),
        (
            lambda: dc.Ambiguity(pairs=("age", "sex")),
            "ambiguity: pairs must be a text or a list of lists of texts, not ('age', 'sex'); correct it, or leave it "
            "out",
        ),
        (lambda: dc.Cuts(loss=5), "cuts: loss must be ail, gcp or discernibility, not 5; correct it, or leave it out"),
        (lambda: dc.Cuts(loss="gpc"), "cuts: loss must be ail, gcp or discernibility, not 'gpc'; did you mean 'gcp'?"),
        (
            lambda: dc.SplitAndPartition(positions=2.5),
            "proximity: positions must be a whole number between 1 and 1000, not 2.5; did you mean positions=2?",
        ),
        (
            lambda: dc.Corruption(1.0),
            "corruption: share must be a number of at least 0 and below 1, not 1.0; correct it, or leave it out",
        ),
        (
            lambda: dc.KAnonymity(True),
            "k-anonymity: k must be a whole number of at least 1, not True; write for example 'k-anonymity(k=5)'",
        ),
    ],
)
def test_a_refusal_names_the_option_the_value_and_the_way_out(make: Callable[[], object], sentence: str) -> None:
    with pytest.raises(dc.DiscreetError) as told:
        make()
    assert str(told.value) == sentence


def test_sequences_become_tuples() -> None:
    assert dc.Ambiguity(pairs=[["age", "sex"]]).pairs == (("age", "sex"),)
    assert dc.Cuts(cuts=["plain"]).cuts == ("plain",)
    assert hash(Mondrian(cuts=["plain"])) == hash(Mondrian())


@dataclass(frozen=True, kw_only=True)
class Plugged(Mondrian):
    """A scheme with options that no scheme of discreet has."""

    limit: int | None = None
    columns: Sequence[str] = ()
    anything: Any = 0.5
    chosen: Callable[[], None] | None = None
    table: dc.Table | None = None
    level: Literal[1, 2] = 1


def test_a_scheme_gets_its_options_checked_without_code_of_its_own() -> None:
    read = Plugged.from_texts({"limit": "5", "columns": "age+sex", "anything": "2"})
    assert (read.limit, read.columns, read.anything) == (5, ("age", "sex"), 2.0)
    assert Plugged(anything="any text", chosen=print, level=2).anything == "any text"
    for name, value in (("limit", "5"), ("columns", "age"), ("columns", [5]), ("table", 5), ("level", 3)):
        with pytest.raises(dc.DiscreetError, match=rf"^mondrian: {name}\b.*; "):
            Plugged(**{name: value})


PEOPLE = patients()


@cache
def release() -> dc.Release:
    return dc.publish(PEOPLE, dc.KAnonymity(3), dc.Mondrian())


def reading(**options: Any) -> Callable[[], object]:
    return lambda: dc.read(patients_arrow(), **{"quasi": ["age"], "sensitive": "disease", **options})


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: dc.Range(5), "5 is not a column name; name columns by text"),
        (lambda: dc.Range("age", [1]), r"column 'age' cannot be compared with \[1\]; give a number, a text or a date"),
        (lambda: dc.Range("age", 1, low_open="no"), "low_open must be true or false, not 'no'"),
        (lambda: dc.Query(dc.Range("age", True)).count(PEOPLE), "column 'age' holds numbers, and True is not one"),
        (lambda: dc.OneOf("sex", None), "column 'sex' cannot be compared with None"),
        (lambda: dc.OneOf("age", [[1]]), r"column 'age' cannot be compared with \[1\]"),
        (lambda: dc.Query("age > 5"), "'age > 5' is not a condition; give one such as Range"),
        (lambda: dc.Query([5]), "5 is not a condition"),
        (lambda: dc.GroupBy(5), "5 is not a column name"),
        (lambda: dc.GroupBy("sex", 5), "5 is not a query; give one such as Query"),
        (lambda: dc.Table("48", PEOPLE.quasi, ()), "rows must be a whole number, not '48'; did you mean rows=48"),
        (lambda: dc.Table(48, ["age"], ()), r"quasi must be a list of Columns, not \['age'\]; let discreet.read make"),
        (
            lambda: dc.publish(PEOPLE, dc.KAnonymity(3), most_withheld="0.1"),
            "most_withheld must be a number between 0 and 1, ",
        ),
        (lambda: dc.Cuts().publish(5, dc.KAnonymity(3)), "a table with roles is needed here, not int"),
        (lambda: dc.Cuts().publish(PEOPLE, "k-anonymity(k=3)"), r"'k-anonymity\(k=3\)' is not a promise; give one"),
        (lambda: release().save("release", force="false"), "force must be true or false, not 'false'; did you"),
        (lambda: release().save(5), "5 is not a path; give the path of a file or a folder"),
        (lambda: dc.load(None), "None is not a path"),
        (
            lambda: dc.attack(release(), PEOPLE, "beliefs", victims=True),
            "victims must be a whole number or None",
        ),
        (lambda: dc.attack(release(), PEOPLE, "beliefs", random_state="x"), "random_state must be a whole number or "),
        (lambda: dc.compare(5, "k-anonymity(k=3)"), "a table with roles is needed"),
        (lambda: dc.compare(PEOPLE, 5), "5 is not a promise"),
        (lambda: dc.compare(PEOPLE, "k-anonymity(k=3)", 5), "5 is not a scheme"),
        (lambda: dc.compare(PEOPLE, "k-anonymity(k=3)", queries="20"), "queries must be a whole number, not '20'; did"),
        (lambda: dc.compare(PEOPLE, "k-anonymity(k=3)", dimensions=1.5), "dimensions must be a whole number or None"),
        (lambda: dc.compare(PEOPLE, "k-anonymity(k=3)", volume="x"), "volume must be a finite number or None, not 'x'"),
        (lambda: dc.compare(PEOPLE, "k-anonymity(k=3)", random_state=1.5), "random_state must be a whole number or "),
        (lambda: dc.plan(5), "a table with roles is needed"),
        (lambda: dc.plan(PEOPLE, epsilon="5"), "proximity: epsilon must be a number of at least 0, not '5'"),
        (lambda: workload(PEOPLE, selectivity="x"), "selectivity must be a finite number, not 'x'"),
        (lambda: workload(PEOPLE, number=True), "number must be a whole number, not True"),
        (lambda: volume_workload(PEOPLE, seed="x"), "seed must be a whole number or None, not 'x'"),
        (lambda: census(True), "rows is True; a census table needs a whole number"),
        (reading(hierarchies=5), "5 does not say which column has which hierarchy; say for example hierarchies="),
        (reading(hierarchies={5: "sex.csv"}), "5 is not a column name"),
        (
            reading(domains=[16, 93]),
            r"\[16, 93\] does not say which column has which domain; .* domains={'age':",
        ),
        (
            reading(lists={"disease": 5}),
            "5 is not a separator of values in column 'disease'; .* lists={'disease':",
        ),
        (reading(join={"disease": "visits.csv"}), "'visits.csv' does not name a table for column 'disease' and the "),
        (reading(delimiter=5), "delimiter must be a text or None, not 5"),
    ],
)
def test_other_arguments_of_the_wrong_type_are_refused(
    call: Callable[[], object], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(dc.DiscreetError, match=f"^{told}"):
        call()
    assert not list(tmp_path.iterdir())


def test_a_single_scheme_is_compared_alone() -> None:
    assert dc.compare(PEOPLE, dc.KAnonymity(3), "mondrian", queries=5).schemes == ("mondrian",)


def test_values_of_numpy_and_dates_stand_alone_in_conditions() -> None:
    assert dc.OneOf("age", np.int64(30)).values == (30,)
    assert dc.OneOf("born", date(1970, 1, 1)).values == (date(1970, 1, 1),)
    assert dc.Query(dc.OneOf("age", np.int64(30))).count(PEOPLE) == dc.Query(dc.OneOf("age", 30)).count(PEOPLE) > 0


@pytest.mark.parametrize(
    ("scheme", "option", "told"),
    [
        ("burel", "refine=maybe", "refine must be true or false, not 'maybe'; correct it, or leave it out"),
        ("cuts", "withhold=nan", "withhold must be a number of at least 0 and below 1, not 'nan'; correct it, or"),
        (
            "proximity",
            "positions=9.0",
            "positions must be a whole number between 1 and 1000, not 9.0; did you mean",
        ),
    ],
)
def test_flags_and_job_files_tell_the_option(scheme: str, option: str, told: str, tmp_path: Path) -> None:
    write_csv(patients_arrow(), tmp_path / "people.csv")
    words = (str(tmp_path / "people.csv"), "--quasi", "age", "--sensitive", "disease", "--scheme", scheme)
    more = ("--promise", "k-anonymity(k=3)", "-o", str(tmp_path / "release"))
    given = run("publish", *words, *more, "--option", option, code=2)
    key, _, value = option.partition("=")
    job = tmp_path / "job.toml"
    told_in_job = value if value in ("nan", "9.0") else f"'{value}'"
    job.write_text(
        f'input = "people.csv"\noutput = "release"\nquasi = "age"\nsensitive = "disease"\nscheme = "{scheme}"\n'
        f'promises = "k-anonymity(k=3)"\noptions = {{ {key} = {told_in_job} }}\n'
    )
    for found in (given, run("publish", "--job", str(job), code=2)):
        assert told in found.stderr
        assert not (tmp_path / "release").exists()
