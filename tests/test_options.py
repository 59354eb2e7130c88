"""Options of the wrong type are refused by name: of every scheme, promise and attack, by their annotations alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import discreet as dc
from discreet.adversary.attacks import ATTACKS
from discreet.principles import PRINCIPLES
from discreet.schemes import SCHEMES, make_scheme
from discreet.schemes.cuts.mondrian import Mondrian
from discreet.schemes.scheme import option_name

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
        assert option_name(field) in sentence and "; " in sentence and "\n" not in sentence, (label, sentence)
        assert len(sentence) < 400, (label, sentence)


@pytest.mark.parametrize(
    ("valid", "field", "hint"), [case for case in OPTIONS if {bool, int, float} & set(members(case.values[2]))]
)
def test_scalars_of_numpy_become_those_of_python(valid: Any, field: Any, hint: Any) -> None:
    kind = next(one for one in (bool, int, float) if one in members(hint))
    value = getattr(valid, field.name)
    if value is None:  # a seed, or a number that may be left out and accepts 1 except beside other kinds
        value = kind(1)
        if valid.name == "l-diversity":
            valid = replace(valid, kind="recursive", c=value)
    for made in {bool: [np.bool_], int: [np.int64, np.uint8], float: [np.float64, np.longdouble]}[kind]:
        again = replace(valid, **{field.name: made(value)})
        assert type(getattr(again, field.name)) is kind and getattr(again, field.name) == value
        assert again == replace(valid, **{field.name: value})


@pytest.mark.parametrize("name", [name for name in SCHEMES if len(fields(SCHEMES[name])) > 1])  # type: ignore[arg-type]
def test_options_are_read_from_texts_by_their_annotations(name: str) -> None:
    scheme: Any = SCHEMES[name]()
    texts = {key: str(value) for key, value in scheme.options.items()}
    assert make_scheme(name, texts) == scheme
    for field in fields(scheme):
        hint = get_type_hints(type(scheme))[field.name]
        if field.name != "random_state" and str not in members(hint):
            with pytest.raises(dc.DiscreetError, match=rf"^{option_name(field)}.*'perhaps'.*; (correct|choose) "):
                make_scheme(name, {option_name(field): "perhaps"})


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: dc.Burel(refine="false"), "refine must be true or false, not 'false'; did you mean refine=False?"),  # type: ignore[arg-type]
        (lambda: dc.Cuts(withhold="0.1"), "withhold must be a finite number, not '0.1'; did you mean withhold=0.1?"),  # type: ignore[arg-type]
        (
            lambda: dc.Sealed(random_state="x"),  # type: ignore[arg-type]
            "random_state must be a whole number or None, not 'x'; correct it, or leave it out",
        ),
        (lambda: dc.Cuts(cuts=5), "cuts must be a text or a list of texts, not 5; correct it, or leave it out"),  # type: ignore[arg-type]
        (
            lambda: dc.Ambiguity(pairs=("age", "sex")),
            "pairs must be a text or a list of lists of texts, not ('age', 'sex'); correct it, or leave it out",
        ),
        (lambda: dc.Cuts(loss=5), "loss=5 is not known; choose ail, gcp, discernibility"),  # type: ignore[arg-type]
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
        with pytest.raises(dc.DiscreetError, match=rf"^{name}\b.*; "):
            Plugged(**{name: value})
