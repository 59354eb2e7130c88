"""README.md in the folder of a release: it follows from the manifest, is short, and no name or value escapes."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

import discreet as dc
from discreet.catalogue import FORMATS
from discreet.releases import load
from discreet.releases.readme import RESERVED, code, prose, readme
from discreet.table.sql import parse_count
from discreet.table.table import Table
from fuzz.formats import describes, spans
from support.formats import MAKERS, published_as

GITHUB = MarkdownIt("gfm-like", {"html": True, "linkify": False})
"""How pages are read that show tables, and let HTML through."""


def people(name: str = "age", value: str = "flu") -> Table:
    rng = np.random.default_rng(0)
    columns = {
        name: rng.integers(20, 60, 300),
        "sex": rng.choice(["f", "m"], 300),
        "pay": rng.integers(0, 12, 300) * 100,
    }
    return dc.read(pa.table(columns), quasi=[name, "sex"], sensitive="pay")


@pytest.fixture(scope="module")
def table() -> Table:
    return people()


@pytest.mark.slow
@pytest.mark.parametrize("format", MAKERS)
def test_every_format_has_one(table: Table, tmp_path: Path, format: str) -> None:
    """It is short, says what is in each file, and its count can be asked, in Python and on the command line."""
    release = published_as(format, table)
    home = release.save(tmp_path / "r", "parquet")
    describes(home)
    text = (home / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 60
    at = text.index("## Files")
    files = text[at : text.index("## Columns")].strip().splitlines()[2:]
    assert all(re.search(r"`: .{10,}\.$", line) for line in files), files
    command, *python = re.findall(r"^    (.+)$", text, re.MULTILINE)
    assert python[0] == "import discreet as dc"
    asked = re.search(r"estimate\((\".*\")\)", python[1])
    assert asked is not None and shlex.split(command)[-1] == json.loads(asked[1])
    count = load(home).estimate(json.loads(asked[1]))
    assert 0 < count < 300


@pytest.mark.slow
@pytest.mark.parametrize("format", MAKERS)
def test_it_is_made_anew_from_the_manifest_alone(table: Table, tmp_path: Path, format: str) -> None:
    home = published_as(format, table).save(tmp_path / "r")
    text = (home / "README.md").read_bytes()
    assert readme(json.loads((home / "release.json").read_bytes())).encode() == text
    load(home).save(tmp_path / "again")
    assert (tmp_path / "again" / "README.md").read_bytes() == text


def test_every_table_of_a_format_is_explained() -> None:
    """No class states that its tables have what a base of it says already."""
    for name in FORMATS.built_in:
        kind = FORMATS[name].release
        said = [text for base in kind.__mro__ for text in vars(base).get("contents", {}).values()]
        assert len(said) == len(set(said)) and all(text[0].islower() and text[-1] != "." for text in said)


@pytest.mark.parametrize("scheme", ["perturbation", "retention"])
def test_randomised_columns_are_not_to_be_counted(table: Table, scheme: str) -> None:
    promise = {"perturbation": "beta-likeness(beta=1)", "retention": "proximity(epsilon=0, m=2)"}[scheme]
    release = dc.publish(table, promise, scheme=scheme)
    text = readme({**release.manifest, "tables": {}})
    assert "`pay_randomised`, where it is randomised" in text and "Never count it as it is." in text


def test_an_experiment_says_so(table: Table) -> None:
    drawn, seeded = (dc.publish(table, "k-anonymity(k=5)", scheme=dc.Cuts(random_state=seed)) for seed in (None, 1))
    assert "protects nobody" in readme(seeded.manifest) and "protects nobody" not in readme(drawn.manifest)


# ------------------------------------------------------------------------------------------------------- hostile names

HOSTILE = [
    "a|b",
    "`rm`",
    "<script>alert(1)</script>",
    "a\nb\n# A heading",
    "[click](http://x.example)",
    "*bold* _it_ ~~no~~",
    "![](x.png)",
    "a\u202eb\u2028c",
    "\\",
    '"quoted"',
    "```",
    "&lt;b&gt;",
    "a]b",
    "$x$",
    "select",
    "'; DROP TABLE t; --",
]


def rendered(text: str) -> list[Any]:
    """All tokens of a page."""
    found = []
    for token in GITHUB.parse(text):
        found += [token, *(token.children or [])]
    return found


@pytest.mark.parametrize("name", HOSTILE)
def test_names_and_values_stay_within_their_code_spans(name: str, tmp_path: Path) -> None:
    """A page with a hostile name is built of the same parts as one with a harmless name, and the name can be read."""
    ages, pay = np.arange(40) % 9, ["x", name] * 20
    data = {name: ages, "sex": ["f", f"m{name}"] * 20, "pay": pay, f"kept{name}": pay}
    plain = {"age": ages, "sex": ["f", "mm"] * 20, "pay": ["x", "y"] * 20, "kept": pay}
    pages = []
    for number, columns in enumerate((data, plain)):
        first, sex, sensitive, kept = columns
        table = dc.read(pa.table(columns), quasi=[first, sex], sensitive=sensitive, keep=kept, categorical=[sex])
        home = dc.publish(table, "k-anonymity(k=4)", scheme="mondrian").save(tmp_path / str(number))
        assert dc.audit(home, table).holds
        describes(home)
        pages.append((home / "README.md").read_text(encoding="utf-8"))
    kinds = [[token.type for token in rendered(page)] for page in pages]
    assert {*kinds[0]} <= {*kinds[1]} and not {*kinds[0]} & {"link_open", "html_block", "html_inline", "image"}
    assert kinds[0].count("code_inline") == kinds[1].count("code_inline")
    assert pages[0].count("\n") == pages[1].count("\n")
    shown = [token.content for token in rendered(pages[0]) if token.type == "code_inline"]
    assert name in shown or json.dumps(name, ensure_ascii=False) in shown or name in spans(pages[0])


@given(st.text(min_size=1, max_size=12))
def test_any_text_can_be_read_back_from_its_code_span(text: str) -> None:
    (paragraph,) = (token for token in GITHUB.parse(f"- {code(text)}: x") if token.type == "inline")
    assert [child.type for child in paragraph.children or []] == ["code_inline", "text"]
    (span,) = spans(f"- {code(text)}: x")
    assert span == text


@given(st.text(alphabet="ab \\`*_[]<>#&|~$@!()-\n'\"", max_size=20))
def test_sentences_stay_sentences(text: str) -> None:
    tokens = rendered(f"- x{prose(text)}x")
    assert {token.type for token in tokens} <= {
        *("bullet_list_open", "list_item_open", "paragraph_open", "inline", "text", "text_special"),
        *("paragraph_close", "list_item_close", "bullet_list_close"),
    }


def test_names_that_queries_would_misread_stand_in_brackets() -> None:
    """Every word of the parser that is no name by itself is known."""
    from sqlglot.tokens import Tokenizer

    words = {word.lower() for word in Tokenizer.KEYWORDS if re.fullmatch(r"[A-Za-z_]\w*", word)}
    for word in words | {*RESERVED.pattern.split("|")}:
        name = f"[{word}]" if RESERVED.fullmatch(word) else word
        asked = parse_count(f"SELECT COUNT(*) FROM t WHERE {name} >= 3", {word: "numeric"})
        assert [*asked.by_attribute] == [word]


# ------------------------------------------------------------------------------------------------------- in the folder


def test_releases_of_earlier_versions_have_none(table: Table, tmp_path: Path) -> None:
    home = dc.publish(table, "k-anonymity(k=5)").save(tmp_path / "r")
    (home / "README.md").unlink()
    assert dc.audit(home, table).holds and load(home).rows == 300


def test_a_page_of_ones_own_is_not_replaced(table: Table, tmp_path: Path) -> None:
    """One that an older version found there may be somebody's; one that a release came with is part of it."""
    release = dc.publish(table, "k-anonymity(k=5)")
    home = release.save(tmp_path / "r")
    release.save(home, force=True)
    (home / "README.md").write_text("# How this was made\n")
    with pytest.raises(dc.DiscreetError, match=r"'README.md', which is no part of the release"):
        release.save(home, force=True)


@pytest.mark.parametrize("way", ["longer", "link", "folder"])
def test_another_page_fails_the_audit(table: Table, tmp_path: Path, way: str) -> None:
    home = dc.publish(table, "k-anonymity(k=5)").save(tmp_path / "r")
    page = home / "README.md"
    text = page.read_text(encoding="utf-8")
    page.unlink()
    if way == "longer":
        page.write_text(f"{text}Ann is in group 3.\n")
    elif way == "link":
        (tmp_path / "elsewhere").write_text(text)
        page.symlink_to(tmp_path / "elsewhere")
    else:
        page.mkdir()
    assert [check.name for check in dc.audit(home, table).checks if not check.holds][-1] == "readme"


def test_another_version_may_have_said_it_in_other_words(table: Table, tmp_path: Path) -> None:
    home = dc.publish(table, "k-anonymity(k=5)").save(tmp_path / "r")
    for name in ("release.json", "README.md"):
        text = (home / name).read_text(encoding="utf-8").replace(dc.__version__, "0.0.9")
        (home / name).write_text(text.replace("This folder holds", "Here are"), encoding="utf-8")
    (failed,) = (check for check in dc.audit(home, table).checks if not check.holds)
    assert failed.name == "readme" and failed.sentence.endswith("0.0.9 made the release; audit it with that version.")
