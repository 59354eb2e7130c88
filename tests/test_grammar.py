"""One grammar: every scheme, promise and attack is written, read and refused in the same way, wherever it is said."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow.csv import write_csv

import discreet as dc
from discreet.adversary.attacks.campaign import chosen
from discreet.catalogue import ATTACKS, PRINCIPLES, SCHEMES
from discreet.datasets import patients, patients_arrow
from discreet.expressions import SEED, Expression, form_of, split
from discreet.options import Interval, _members, hints_of
from discreet.schemes import make_scheme
from support.command import run

REGISTRIES = {"scheme": SCHEMES, "promise": PRINCIPLES, "attack": ATTACKS}


def parsed(noun: str, text: str) -> Any:
    if noun == "attack":
        (attack,) = chosen(text)
        return attack
    return make_scheme(text) if noun == "scheme" else dc.parse(text)


def valid(noun: str, name: str) -> Any:
    return dc.parse(PRINCIPLES[name].example.strip("'")) if noun == "promise" else parsed(noun, name)


def ranges(hint: Any) -> Iterator[Interval]:
    """Every range that is declared anywhere in an annotation."""
    for inner in get_args(hint):
        if isinstance(inner, Interval):
            yield inner
        elif get_origin(inner) is not None:
            yield from ranges(inner)


def others(hint: Any) -> list[Any]:
    """Values that an annotation admits, among them the ends of its ranges."""
    found: list[Any] = []
    for member in _members(hint):
        if get_origin(member) is Literal:
            found += get_args(member)
        elif member is bool:
            found += [True, False]
        elif member in (int, float):
            ends = [end for interval in ranges(hint) for end in (interval.low, interval.high)]
            found += [member(end) for end in ends if abs(end) < 1e6] + [member(7), *([0.3] if member is float else [])]
        elif member is str:
            found += ["plain", "wage (EUR)", 'a, "b" & c=d']
    return found


EVERY = [(noun, name) for noun, registry in REGISTRIES.items() for name in registry.built_in]


@pytest.mark.parametrize(("noun", "name"), EVERY)
def test_everything_reads_back_from_its_text(noun: str, name: str) -> None:
    """As it is by default, and with each parameter that may be something else."""
    default = valid(noun, name)
    assert parsed(noun, str(default)) == default
    assert noun == "promise" or str(default) == name
    tried = 0
    for field in fields(default):
        for value in others(hints_of(type(default))[field.name]):
            try:
                changed = replace(default, **{field.name: value})
            except dc.DiscreetError:
                continue
            tried += 1
            if field.name != SEED:
                assert parsed(noun, str(changed)) == changed, str(changed)
    assert tried or not fields(default)


@pytest.mark.parametrize(("noun", "name"), EVERY)
def test_what_is_just_outside_a_range_is_refused_in_words(noun: str, name: str) -> None:
    default = valid(noun, name)
    for field in fields(default):
        for interval in ranges(hints_of(type(default))[field.name]):
            outside = [end for end in (interval.low, interval.high) if end not in interval and abs(end) < 1e9]
            outside += [interval.low - 1] if interval.low > -1e9 else []
            outside += [interval.high + 1] if interval.high < 1e9 else []
            assert outside
            for value in outside:
                with pytest.raises(dc.DiscreetError, match=rf"^{name}: {field.name} .*must be .*; ") as refusal:
                    replace(default, **{field.name: int(value)})
                assert str(int(value)) in str(refusal.value)


@pytest.mark.parametrize("kind", [kind for registry in REGISTRIES.values() for kind in registry.values()])
def test_parameters_are_declared_and_not_listed_again(kind: type[Expression]) -> None:
    assert "parameters" not in vars(kind)
    own = {"options"} & set(vars(kind))
    assert not own or kind.name in ("ambiguity", "codip"), "the options follow from the annotations"


MALFORMED = [
    *("", " ", "(", ")", "()", "cuts(", "cuts)", "cuts((", "cuts())", "cuts(effort=fast", "cuts(effort=fast))"),
    *("cuts(,effort=fast)", "cuts(effort=fast,)", "cuts(effort=fast,,loss=gcp)", "cuts(,)"),
    *("cuts(effort)", "cuts(=fast)", "cuts(effort=)", "cuts(effort==)", "cuts(effort=fast, effort=fast)"),
    *("cuts(effort=cuts(effort=fast))", "cuts(cuts(cuts(cuts)))", 'cuts(effort="fast)', 'cuts(effort="a"b)', '"cuts"'),
    *(
        "cüts",
        "cuts(éffort=fast)",
        "cuts(effort=\uff46)",
        "k-anonymity(k=٣)",
        "k-anonymity(k=1_0)",
        "k\x00(k=5)",
        "\ud800",
    ),
    *("k-anonymity(k=" + "9" * 100_000 + ")", "k" * 100_000, "(" * 100_000, "k-anonymity(k=" + "(" * 50_000),
    *("a&b", "& &", "k-anonymity(k=5) k-anonymity(k=5)", "k-anonymity(k=5);", "naive-bayes(correction=-1)", "=", ","),
]


def refused(noun: str, text: str) -> None:
    with pytest.raises(dc.DiscreetError) as refusal:
        parsed(noun, text)
    sentence = str(refusal.value)
    assert "\n" not in sentence and "; " in sentence and len(sentence) < 700, sentence


@pytest.mark.slow
@pytest.mark.parametrize("noun", REGISTRIES)
@pytest.mark.parametrize("text", MALFORMED, ids=lambda text: ascii(text[:20]))
def test_malformed_texts_are_refused_in_one_sentence(noun: str, text: str) -> None:
    refused(noun, text)


@given(
    st.sampled_from(sorted(REGISTRIES)),
    st.lists(st.sampled_from(["cuts", "k-anonymity", "naive-bayes", "k", "effort", *'(()),,=="&+:; ', "5", "é"])).map(
        "".join
    )
    | st.text(max_size=30),
)
@example("promise", "k-anonymity(k=5)&k-anonymity(k=5)")
def test_any_text_is_read_or_refused_in_one_sentence(noun: str, text: str) -> None:
    try:
        found = parsed(noun, text)
    except dc.DiscreetError as refusal:
        assert "\n" not in str(refusal) and "; " in str(refusal)
    else:
        assert parsed(noun, str(found)) == found


@given(st.lists(st.sampled_from(["a", "(", ")", ",", '"', "\\", "&", "="])).map("".join))
def test_splitting_loses_nothing(text: str) -> None:
    for mark in ",&":
        assert mark.join(split(text, mark)) == text


def test_lists_respect_parentheses_and_quotes() -> None:
    assert split("cuts(effort=thorough, loss=gcp),burel", ",") == ["cuts(effort=thorough, loss=gcp)", "burel"]
    form = form_of('codip(scheme=cuts(loss=gcp, effort=fast), harmless="a=b; c=d")', "scheme", "")
    assert form.given == {"scheme": "cuts(loss=gcp, effort=fast)", "harmless": "a=b; c=d"}
    assert make_scheme("codip(scheme=cuts(loss=gcp, effort=fast))").options["scheme"] == "cuts(loss=gcp)"


def test_what_is_not_in_the_grammar_is_refused() -> None:
    with pytest.raises(dc.DiscreetError, match="cannot be read; write it like"):
        dc.compare(patients(), "k-anonymity(k=4)", "cuts:loss=gcp", queries=5)


def test_python_takes_texts_everywhere() -> None:
    release = dc.publish(patients(), "beta-likeness(beta=2)", scheme="cuts(effort=thorough)")
    assert release.manifest["scheme"]["options"]["effort"] == "thorough"
    (evidence,) = dc.attack(release, patients(), "naive-bayes(correction=1)").evidence
    assert evidence.attack == "naive-bayes(correction=1)"


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    write_csv(patients_arrow(), tmp_path / "people.csv")
    roles = ["--quasi", "age,sex", "--sensitive", "disease", "--promise", "k-anonymity(k=3)"]
    return ["publish", str(tmp_path / "people.csv"), "-o", str(tmp_path / "release"), *roles]


def test_flags_and_job_files_take_texts(words: list[str], tmp_path: Path) -> None:
    run(*words, "--scheme", "cuts(effort=thorough, loss=gcp)", "--option", "withhold=0.02")
    assert dc.load(tmp_path / "release").manifest["scheme"]["options"] == {
        **dc.Cuts(effort="thorough", loss="gcp", withhold=0.02).options
    }
    job = tmp_path / "job.toml"
    job.write_text(
        'input = "people.csv"\noutput = "again"\nquasi = "age"\nsensitive = "disease"\n'
        'promises = "k-anonymity(k=3)"\nscheme = "mondrian(loss=gcp)"\n'
    )
    run("publish", "--job", str(job))
    assert dc.load(tmp_path / "again").manifest["scheme"]["options"] == dc.Mondrian(loss="gcp").options
    said = run(*words, "--scheme", "cuts(effort=fast)", "--option", "effort=thorough", "--force", code=2).stderr
    assert "cuts: effort is given twice, in 'cuts(effort=fast)' and as an option of its own; give it once" in said


@pytest.mark.slow
@pytest.mark.parametrize("text", ["cuts(", "", "cuts(effort=(", "cüts(é=1)", "cuts(" * 1000, "9" * 5000])
def test_malformed_flags_end_with_code_2(text: str, words: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "release"
    if not text:
        run(*words)
        original = ("--original", str(tmp_path / "people.csv"))
        assert "attack '' cannot be read" in run("attack", str(folder), *original, "--attack", "", code=2).stderr
    for flags in (["--scheme", text], ["--promise", text]):
        said = run(*words, "--force", *flags, code=2).stderr.strip()
        assert said.count("\n") <= said.count("\n  ") + len(said) // 80 and "Traceback" not in said
    compare = ["compare", *words[1:2], *words[4:], "--schemes", text or ","]
    assert "Traceback" not in run(*compare, "--queries", "5", code=2 if text else 0).stderr
