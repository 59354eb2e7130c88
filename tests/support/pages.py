"""The pages of the documentation: their blocks of code, run as a reader would, and their links.

A page is read from top to bottom, in a folder of its own that is empty at first. The language of a block says what
happens to it:

- ``console``: every line that begins with ``$`` is typed; the lines below it, if there are any, are what it prints,
  where ``...`` stands for anything. ``# exit code 1`` at the end of a command says how it ends, if not with 0.
- ``python``: is executed, in the names of the blocks before; with ``>>>``, what it prints is compared.
- ``text NAME`` or ``toml NAME``: is written to the file NAME.
- ``python FOLDER`` or ``toml FOLDER``: is quoted from a file in that folder of the project.
- ``sh``: needs what a test cannot have (an installation, a container); only the programs in ``ELSEWHERE`` occur there.
- any other: is only shown.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

from discreet.command.console import COMPILING
from discreet.command.main import main
from discreet.progress import COMPILES
from support.house import ROOT

DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
SERVERS = ("postgresql://", "sc://")
"""What commands name that need a server: tests/table/test_postgres.py and tests/engines/test_spark.py run such."""
ELSEWHERE = (".", "pip", "pipx", "docker", "make", "git", "crontab", "eval", "echo", "conda", "uv", "python")
SHOWN = ("text", "toml", "json", "dockerfile", "html", "cron", "{toctree}", "{include}", "{glossary}", "{eval-rst}")
WIDTH = "80"
LIKE = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


class Block(NamedTuple):
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    file: str | None
    """The file that it is written to, or the folder that it is quoted from, if there is one."""
    text: str

    def __str__(self) -> str:
        return f"{self.page.name}:{self.line}"


class Command(NamedTuple):
    """A command of a console block."""

    words: str
    code: int
    printed: str
    """What the page says it prints; nothing if it does not say."""


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in their order."""
    text = page.read_text(encoding="utf-8")
    for match in re.finditer(r"^( *)```([^\n`]*)\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL):
        indent, info, body = match.groups()
        language, _, file = info.strip().partition(" ")
        line = text.count("\n", 0, match.start()) + 1
        body = re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)
        yield Block(page, line, language, None if language.startswith("{") else file or None, body)


def commands(block: Block) -> Iterator[Command]:
    """The commands of a console block."""
    assert block.text.startswith("$ "), f"{block}: a console block begins with a command"
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        first, lines = [], part.splitlines()
        while lines:
            first.append(lines.pop(0))
            if not first[-1].endswith("\\") and _closed("\n".join(first)):
                break
        words = "\n".join(first)
        code = re.search(r"#.* exit code (\d+)", words)
        yield Command(words, int(code[1]) if code else 0, "\n".join(lines))


def _closed(words: str) -> bool:
    """Whether no quotation is open at the end of a command."""
    try:
        shlex.split(words, comments=True)
    except ValueError:
        return False
    return True


def carry_out(block: Block, names: dict[str, Any]) -> None:
    """Do with a block what its language says, in the present folder; ``names`` are those of the page's Python."""
    if block.file is not None and (ROOT / block.file).is_dir():
        sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / block.file).rglob("*.*[yl]"))
        assert _solid(block.text) in _solid(sources), f"{block}: is not in {block.file}"
    elif block.file is not None:
        assert block.language in SHOWN, f"{block}: {block.language} is not written to files"
        Path(block.file).parent.mkdir(parents=True, exist_ok=True)
        Path(block.file).write_text(block.text, encoding="utf-8", newline="\n")
    elif block.language == "console":
        for command in commands(block):
            printed = _typed(command, block)
            assert not command.printed.strip() or _alike(command.printed, printed), (
                f"{block}: {command.words}\nshould print\n{command.printed}\nand prints\n{printed}"
            )
    elif block.language == "python":
        _python(block, names)
    elif block.language == "sh":
        lines = [line for line in block.text.replace("\\\n", "").splitlines() if line and not line.startswith("#")]
        here = [line for line in lines if not any(server in line for server in SERVERS)]
        assert all(line.removeprefix("$ ").split()[0] in ELSEWHERE for line in here), f"{block}: can be run here"
    else:
        assert block.language in SHOWN, f"{block}: {block.language!r} is no language that is known to be run or shown"


def _typed(command: Command, block: Block) -> str:
    """What a command prints; it has to end with its code."""
    words = shlex.split(command.words.replace("\\\n", ""), comments=True)
    if words[0] == "discreet" and not {"|", ">", "&&", ";"} & set(words):
        result = CliRunner(env={"COLUMNS": WIDTH, "NO_COLOR": "1"}).invoke(main, words[1:])
        code, printed = result.exit_code, result.output
    else:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        env = {**os.environ, "PATH": path, "COLUMNS": WIDTH}
        done = subprocess.run(command.words, shell=True, env=env, capture_output=True, text=True, check=False)
        code, printed = done.returncode, done.stdout + done.stderr
    assert code == command.code, f"{block}: {command.words}\nends with {code}:\n{printed}"
    # what a machine prints once, while it compiles, is no part of a page
    return "".join(line for line in printed.splitlines(keepends=True) if not _compiles(line))


def _compiles(line: str) -> bool:
    """Whether a line only tells that something is compiled."""
    return line.startswith(COMPILING) or line.rstrip().endswith(f"({COMPILES})")


def _python(block: Block, names: dict[str, Any]) -> None:
    if ">>> " not in block.text:
        exec(compile(block.text, str(block), "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, str(block), str(block.page), block.line)
    said: list[str] = []
    doctest.DocTestRunner(optionflags=LIKE).run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert not said, "".join(said)


def _solid(text: str) -> str:
    """A text without white space, as quotations are indented otherwise."""
    return "".join(text.split())


def _alike(wanted: str, got: str) -> bool:
    """Whether a text is what a page says, apart from white space, the length of lines drawn, and what ``...`` hides."""
    wanted, got = (re.sub("─+", "─", text.rstrip()) + "\n" for text in (wanted, got))
    return doctest.OutputChecker().check_output(wanted, got, LIKE)


# -------------------------------------------------------------------------------------------------------------- links


def links(page: Path) -> Iterator[str]:
    """The places inside the project that a page links to."""
    text = re.sub(r"^( *)```.*?^\1```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`\n]+`", "code", text)
    for target in re.findall(r"\]\(<?([^)\s>]+)>?(?: \"[^\"]*\")?\)", text):
        if not re.match(r"[a-z]+:", target):
            yield target


def anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as the site and hosts of repositories make them."""
    text = re.sub(r"^( *)```.*?^\1```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    named = set(re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE))
    headings = re.findall(r"^#+ (.+?) *$", text, re.MULTILINE)
    return named | {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
