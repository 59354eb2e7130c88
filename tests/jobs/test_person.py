"""What is believed about one person: the shares of the groups that may be the person's."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow.csv import write_csv

import discreet as dc
from discreet.errors import DiscreetError
from discreet.jobs.person import believed
from support.command import run

PEOPLE = pa.table(
    {
        "age": [21, 22, 23, 24, 51, 52, 53, 54, 55, 56],
        "sex": list("fmfmfmfmfm"),
        "illness": ["flu", "flu", "cold", "gout", "cold", "gout", "flu", "cold", "cold", "gout"],
    }
)


def published(folder: Path, *options: str) -> tuple[str, str]:
    original, release = str(folder / "people.csv"), str(folder / "release")
    write_csv(PEOPLE, original)
    run("publish", original, "-o", release, "--quasi", "age,sex", "--sensitive", "illness", *options)
    return release, original


def test_beliefs_are_shares_of_the_group_and_stand_beside_those_of_the_table(tmp_path: Path) -> None:
    folder, original = published(tmp_path, "--promise", "k-anonymity(k=4)", "--option", "descriptions=boxes")
    table = dc.load(folder).to_arrow().to_pylist()
    for row, person in enumerate(PEOPLE.to_pylist(), 1):
        fits = [
            line
            for line in table
            if line["age_lo"] <= person["age"] <= line["age_hi"] and line["sex"] in (person["sex"], "*")
        ]
        assert len({line["group"] for line in fits}) == 1
        shares = Counter(line["illness"] for line in fits)
        view = believed(folder, original, row)
        assert view.known == {"age": str(person["age"]), "sex": person["sex"]}
        (about,) = view.believed
        assert {each.value: each.belief for each in about.beliefs} == pytest.approx(
            {value: number / len(fits) for value, number in shares.items()}
        )
        assert [each.value for each in about.beliefs if each.true] in ([person["illness"]], [])
        assert {each.value: each.share for each in about.beliefs if each.value == "flu"} in ({"flu": 0.3}, {})
        assert not about.withheld
        assert about.others == 0


def test_who_is_withheld_is_believed_to_have_what_withheld_rows_have(tmp_path: Path) -> None:
    odd = PEOPLE.set_column(0, "age", pa.array([None, 22, 23, 24, 51, 52, 53, 54, None, 56]))
    write_csv(odd, tmp_path / "odd.csv")
    roles = ("--quasi", "age,sex", "--sensitive", "illness", "--promise", "l-diversity(l=2)")
    more = ("--missing", "withhold", "--most-withheld", "0.5")
    run("publish", str(tmp_path / "odd.csv"), "-o", str(tmp_path / "odd"), *roles, *more)
    (about,) = believed(str(tmp_path / "odd"), str(tmp_path / "odd.csv"), 1).believed
    release = dc.load(tmp_path / "odd")
    left = Counter(odd["illness"].to_pylist()) - Counter(release.to_arrow()["illness"].to_pylist())
    assert about.withheld
    assert {each.value: each.belief for each in about.beliefs} == pytest.approx(
        {value: number / release.withheld for value, number in left.items()}
    )


@pytest.mark.parametrize("row", [0, 11, -1])
def test_rows_that_do_not_exist_are_refused(tmp_path: Path, row: int) -> None:
    folder, original = published(tmp_path, "--promise", "k-anonymity(k=4)")
    with pytest.raises(DiscreetError, match=r"there is no row .* the table has 10 rows"):
        believed(folder, original, row)
