"""``discreet.extend``: every name is there and explained, and the example plug-in needs no other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import discreet.extend
from support.house import ROOT

PLUGIN = sorted((ROOT / "examples" / "plugin" / "discreet_toy").glob("*.py"))


def test_every_name_is_there_and_explained() -> None:
    text = discreet.extend.__doc__ or ""
    explained = re.findall(r"^    (\w+)  +\S", text, re.MULTILINE)
    offered = {name for name in vars(discreet.extend) if not name.startswith("__")} - {"annotations"}
    assert sorted(explained) == sorted(offered)
    assert all(hasattr(discreet.extend, name) for name in explained)


@pytest.mark.parametrize("path", PLUGIN, ids=lambda path: path.name)
def test_the_example_imports_nothing_else_of_ours(path: Path) -> None:
    assert len(PLUGIN) > 1
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
        ours = [name for name in names if name.split(".")[0] == "discreet"]
        assert set(ours) <= {"discreet", "discreet.extend"}


def test_the_example_adds_a_format_that_is_no_variant_of_another() -> None:
    (separate,) = [path for path in PLUGIN if path.name == "separate.py"]
    bases = [
        base.id
        for node in ast.walk(ast.parse(separate.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        for base in node.bases
        if isinstance(base, ast.Name)
    ]
    assert bases == ["ExactRowsRelease"]
