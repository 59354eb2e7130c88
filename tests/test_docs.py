"""The documentation: what it tells a reader to type runs, page by page, prints what it says, and no link is dead."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from discreet.catalogue import ATTACKS, FORMATS, PRINCIPLES, SCHEMES
from support.house import ROOT
from support.pages import DOCS, PAGES, anchors, blocks, carry_out, commands, links

NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_blocks_of_a_page_run_one_after_the_other(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks(ROOT / name):
        carry_out(block, names)


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    for link in links(page):
        target, _, anchor = link.partition("#")
        there = (page.parent / target).resolve() if target else page
        assert there.exists(), f"{name} links to {link}, which does not exist"
        assert not anchor or anchor in anchors(there), f"{name} links to {link}, but there is no such heading"


def test_the_readme_is_one_screen() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 110
    ran = {
        tuple(command.words.split()[:2])
        for block in blocks(ROOT / "README.md")
        if block.language == "console"
        for command in commands(block)
    }
    assert {("discreet", "publish"), ("discreet", "audit")} <= ran


def test_every_page_is_in_the_table_of_contents() -> None:
    listed = set()
    for page in DOCS.rglob("*.md"):
        for body in re.findall(r"^```\{toctree\}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S):
            for line in body.splitlines():
                if line and not line.startswith(":"):
                    place = re.sub(r".*<(.+)>", r"\1", line).strip()
                    listed.add((page.parent / f"{place}.md").resolve())
    assert {page.resolve() for page in DOCS.rglob("*.md")} - {DOCS / "index.md"} == listed


@pytest.mark.parametrize(
    ("registry", "page"),
    [(SCHEMES, "schemes/{}.md"), (PRINCIPLES, "promises.md"), (FORMATS, "formats.md"), (ATTACKS, "attacks.md")],
    ids=["schemes", "promises", "formats", "attacks"],
)
def test_everything_in_the_catalogue_is_explained(registry: Any, page: str) -> None:
    for name in registry.built_in:
        place = DOCS / page.format(name)
        assert place.exists(), f"{name} has no page"
        assert f"`{name}`" in place.read_text(encoding="utf-8"), f"{place.name} does not explain {name}"
