"""The catalogue: one list of everything, imported when it is used, and explained by commands made from docstrings."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import pytest
from click.testing import CliRunner

from discreet.catalogue import ATTACKS, FORMATS, PRINCIPLES, SCHEMES
from discreet.command import interface
from discreet.command.main import COMMANDS, main
from discreet.plugins import Registry
from discreet.report.manual import manual_page
from discreet.schemes import make_scheme
from support.command import run

KINDS = {"schemes": SCHEMES, "promises": PRINCIPLES, "attacks": ATTACKS}
EACH = [(kind, name) for kind, registry in KINDS.items() for name in registry.built_in]


@pytest.mark.parametrize("registry", [SCHEMES, PRINCIPLES, FORMATS, ATTACKS], ids=lambda registry: registry.group)
def test_everything_is_found_under_its_own_name(registry: Registry[Any]) -> None:
    for name in registry.built_in:
        kind = registry[name]
        assert kind.name == name
        made = kind.release if registry is FORMATS else kind
        assert registry.class_named(made.__name__) is made
    summaries = [registry.summary(name) for name in registry.built_in]
    assert len(set(summaries)) == len(summaries)
    assert all(summary.endswith((".", "?")) and len(summary) < 80 for summary in summaries)
    assert "nobody" not in registry
    with pytest.raises(KeyError):
        registry["nobody"]


def test_every_format_has_an_auditor() -> None:
    assert all(callable(known.audit) for known in FORMATS.values())


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), EACH)
def test_a_manual_page_explains_every_option(kind: str, name: str) -> None:
    page = manual_page(KINDS[kind], name)
    given = {field.name for field in fields(KINDS[kind][name])} - {"random_state"}
    assert {option.name for option in page.options} == given
    for option in page.options:
        assert option.values
        assert option.meaning or option.name in page.text.replace("`", ""), option.name
    assert page.origin and page.text and ">>>" not in page.text
    if kind == "schemes":
        assert page.keeps and set(page.keeps) | set(page.refuses) == set(PRINCIPLES)


def test_defaults_that_are_not_the_papers_are_named() -> None:
    for scheme, option, paper in (
        ("burel", "room", "any"),
        ("proximity", "partition", "round-robin"),
        ("perturbation", "matrix", "closed-form"),
        ("retention", "probability", "published"),
        ("sabre", "share", "1"),
    ):
        (found,) = [one for one in manual_page(SCHEMES, scheme).options if one.name == option]
        ours = str(make_scheme(scheme, {}).options[option])
        assert found.default == ours != paper and str(make_scheme(scheme, {option: paper}).options[option]) != ours
        assert "ours" in found.meaning and "paper" in found.meaning and paper in found.meaning, scheme


@pytest.mark.parametrize("kind", KINDS)
def test_commands_list_and_explain(kind: str) -> None:
    listed = run(kind).stdout
    assert all(name in listed for name in KINDS[kind])
    assert list(json.loads(run(kind, "--json").stdout)) == list(KINDS[kind])
    name = next(iter(KINDS[kind]))
    assert run(kind, name).stdout.startswith(f"{name}: ")
    assert json.loads(run(kind, name, "--json").stdout)["name"] == name
    assert f"did you mean {name!r}" in run(kind, name[:-1], code=2).stderr


def test_what_is_listed_is_there_in_the_same_order() -> None:
    assert [command.name for command in interface.COMMANDS] == list(COMMANDS)


def test_the_group_lists_what_it_has() -> None:
    told = CliRunner().invoke(main, ["--help"]).output
    assert all(name in told for name in COMMANDS)
    assert "No such command 'publsh'" in CliRunner().invoke(main, ["publsh"]).output
