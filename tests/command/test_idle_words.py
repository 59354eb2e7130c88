"""What would play no part is refused, not swallowed: widths beside widths, and words about columns without a role."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.command.main import main
from discreet.errors import DiscreetError
from discreet.principles.principle import parse


def test_epsilon_beside_both_widths_is_refused() -> None:
    """Both sides are said, so nothing is left for epsilon to say."""
    with pytest.raises(DiscreetError, match=r"epsilon=5 would have no effect; leave out epsilon, or the side"):
        parse("proximity(epsilon=5, m=2, below=20, above=10)")
    with pytest.raises(DiscreetError, match=r"epsilon=5 would have no effect"):
        dc.Proximity(5, 2, neighbourhood=(20, 10))


def test_epsilon_beside_one_width_is_the_other() -> None:
    """There it has a part, and is written down."""
    one = parse("proximity(epsilon=5, m=2, below=20)")
    assert isinstance(one, dc.Proximity) and one.epsilon == 5
    assert str(one) == "proximity(epsilon=5, m=2, below=20)"


def test_both_widths_are_written_without_epsilon() -> None:
    """What nobody said is not in the text, which reads back as the same promise, as does the text with it."""
    one = dc.Proximity(m=2, below=20, above=10)
    assert str(one) == "proximity(m=2, below=20, above=10)"
    assert parse(str(one)) == one == parse("proximity(epsilon=20, m=2, below=20, above=10)")


@pytest.mark.parametrize(
    "words",
    [{"domains": {"pay": (0, 9)}}, {"hierarchies": {"pay": {"a": [1], "b": [2]}}}, {"numeric": ["pay"]},
     {"categorical": ["pay"]}, {"ordinal": ["pay"]}],
    ids=lambda words: next(iter(words)),
)  # fmt: skip
@pytest.mark.parametrize("identifiers", [(), ("pay",)], ids=["dropped", "identifier"])
def test_words_about_a_column_without_a_role_are_refused(words: dict[str, Any], identifiers: tuple[str, ...]) -> None:
    """Whether the column is there and dropped, or named as an identifier."""
    table = pa.table({"age": [1, 2], "pay": [1, 2], "s": ["x", "y"]})
    with pytest.raises(DiscreetError, match="'pay', which is not published; give the column a role"):
        dc.read(table, quasi=["age"], sensitive="s", identifiers=identifiers, **words)
    assert dc.read(table, quasi=["age"], sensitive="s", keep=["pay"], numeric=["pay"]).rows == 2


def test_the_command_line_refuses_them_too(tmp_path: Path) -> None:
    """Exit code 2, and nothing is written."""
    (tmp_path / "t.csv").write_text("age,pay,s\n1,2,x\n2,3,y\n")
    for flag in (["--domain", "pay=0:9"], ["--numeric", "pay"], ["--categorical", "pay"], ["--ordinal", "pay"]):
        words = ["publish", str(tmp_path / "t.csv"), "-o", str(tmp_path / "r"), "--quasi", "age", "--sensitive", "s"]
        done = CliRunner().invoke(main, [*words, "--promise", "k-anonymity(k=1)", *flag])
        assert done.exit_code == 2 and "'pay', which is not published" in done.output, done.output
        assert not (tmp_path / "r").exists()
