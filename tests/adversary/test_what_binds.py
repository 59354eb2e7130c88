"""Where -ln p and not beta limits a group, the audit says so: else what is achieved and what is left do not match."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from click.testing import CliRunner

import discreet as dc
from discreet.command.main import main
from discreet.principles import BetaLikeness, Prior


def people() -> pa.Table:
    """Half of them hold one value, for which -ln p is far below a beta of 2."""
    chance = np.random.default_rng(2)
    return pa.table(
        {"age": chance.integers(0, 50, 200), "s": chance.permutation(["flu"] * 100 + ["cold", "cough"] * 50)}
    )


def test_the_bound_that_binds_is_named(tmp_path: Path) -> None:
    """In the audit's sentence, and under the table that publishing shows."""
    table = dc.read(people(), quasi=["age"], sensitive="s")
    dc.publish(table, "beta-likeness(beta=2)").save(tmp_path / "release")
    (kept,) = dc.audit(tmp_path / "release", table).promises
    assert (
        kept.limit is not None
        and "relative gain is bounded by -ln p = 0.693" in kept.limit
        and kept.limit in kept.sentence
    )
    pyarrow.csv.write_csv(people(), tmp_path / "people.csv")
    words = ["--quasi", "age", "--sensitive", "s", "--promise", "beta-likeness(beta=2)", "-o", str(tmp_path / "again")]
    shown = CliRunner().invoke(main, ["publish", str(tmp_path / "people.csv"), *words])
    assert shown.exit_code == 0 and "relative gain is bounded by -ln p = 0.693" in " ".join(shown.output.split()), (
        shown.output
    )


def test_nothing_is_said_where_beta_binds() -> None:
    """Of a rare value, or in the basic variant, beta is the bound."""
    prior = Prior(np.array([1, 99]), ("rare", "common"))
    assert BetaLikeness(2).binding(np.array([1, 33]), prior) is None
    assert BetaLikeness(2, "basic").binding(np.array([0, 40]), prior) is None
    assert "'common'" in (BetaLikeness(2).binding(np.array([0, 40]), prior) or "")


def test_a_comparison_tells_every_refusal_in_one_line(tmp_path: Path) -> None:
    """Under three promises, a scheme that is made for another is refused in one line, not in three."""
    pyarrow.csv.write_csv(people(), tmp_path / "people.csv")
    words = ["--quasi", "age", "--sensitive", "s", "--schemes", "cuts,sabre,retention,ambiguity", "--queries", "10"]
    for beta in (1, 2, 3):
        words += ["--promise", f"beta-likeness(beta={beta})"]
    shown = CliRunner().invoke(main, ["compare", str(tmp_path / "people.csv"), *words])
    assert shown.exit_code == 0, shown.output
    for name in ("sabre", "retention", "ambiguity"):
        lines = [line for line in shown.output.splitlines() if f"scheme '{name}'" in line]
        assert len(lines) == 1 and lines[0].endswith("(3 promises)"), shown.output
