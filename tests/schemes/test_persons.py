"""Tables in which a person has several rows: promises are kept about persons, or refused."""

import csv
import json
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import discreet as dc
from discreet.command.main import main
from discreet.principles.counts import Counts
from discreet.principles.prior import Prior
from naive import persons as naive
from support.tampering import describe

QUASI = ["age", "sex"]


def panel(persons=60, seed=0, constant=False, values="abcdef"):
    """People who were asked up to five times: older each time, and of a value that changes or does not."""
    rng = np.random.default_rng(seed)
    times = rng.integers(1, 6, persons)
    person = np.repeat(np.arange(persons), times)
    age = np.repeat(rng.integers(20, 70, persons), times) + np.concatenate([np.arange(n) for n in times])
    value = rng.choice(list(values), persons)[person] if constant else rng.choice(list(values), len(person))
    order = rng.permutation(len(person))
    return pa.table(
        {
            "id": [f"p{one}" for one in person[order]],
            "age": age[order],
            "sex": np.repeat(rng.choice(["f", "m"], persons), times)[order],
            "illness": value[order],
        }
    )


def read(people, **more):
    return dc.read(people, quasi=QUASI, sensitive="illness", person="id", **more)


def groups_of(people, trace):
    """Per group the pairs of person and value that the trace puts there; withheld ones under -1."""
    pairs = list(zip(people["id"].to_pylist(), people["illness"].to_pylist(), strict=True))
    found = {}
    for pair, group in zip(pairs, trace.tolist(), strict=True):
        found.setdefault(group, []).append(pair)
    return found


def save(release, folder, **more):
    release.save(folder, **more)
    return folder


# ------------------------------------------------------------------------------------------------------------ promises


@pytest.mark.slow
@given(
    seed=st.integers(0, 10**6),
    persons=st.integers(6, 60),
    constant=st.booleans(),
    scheme=st.sampled_from(["cuts", "mondrian", "incognito", "burel", "heterogeneous"]),
    promise=st.sampled_from(["k-anonymity(k=3)", "l-diversity(l=2)", "beta-likeness(beta=1)", "beta-likeness(beta=3)"]),
)
def test_every_group_keeps_the_promise_by_rows_and_by_persons(
    tmp_path_factory, seed, persons, constant, scheme, promise
):
    people = panel(persons, seed, constant)
    table = read(people)
    try:
        release = dc.publish(table, promise, scheme)
    except dc.DiscreetError:
        return
    everyone = [pair for rows in groups_of(people, release.trace).values() for pair in rows]
    number = float(promise.split("=")[1].rstrip(")"))
    for rows in groups_of(people, release.trace).values():
        if promise.startswith("k"):
            assert naive.keeps_k(rows, number)
        elif promise.startswith("l"):
            assert naive.keeps_l(rows, int(number))
        else:
            assert naive.keeps_beta(rows, everyone, number)
    homes = {}
    for group, rows in groups_of(people, release.trace).items():
        for person, _ in rows:
            assert homes.setdefault(person, group) == group
    folder = save(release, tmp_path_factory.mktemp("persons") / "release")
    assert dc.audit(folder, table, trace=release.trace).holds


def test_some_tables_of_all_kinds_are_published():
    """The property above would hold of a scheme that refuses everything."""
    for promise in ("k-anonymity(k=3)", "beta-likeness(beta=1)", "l-diversity(l=2)"):
        for scheme in ("cuts", "mondrian"):
            release = dc.publish(read(panel(200, 1, constant=True)), promise, scheme)
            assert release.manifest["groups"] > 3, (promise, scheme)
    assert dc.publish(read(panel(300, 2)), "beta-likeness(beta=2)").manifest["groups"] > 3
    assert dc.publish(read(panel(300, 2, constant=True)), "t-closeness(t=0.3)").manifest["groups"] > 1


def test_persons_are_counted_once_for_every_value_they_have():
    groups, persons, values = np.array([0, 0, 0, 1, 1]), np.array([4, 4, 2, 1, 1]), np.array([0, 1, 0, 2, 2])
    counts = Counts.of_persons(groups, persons, values, 2, 3)
    assert counts.matrix().tolist() == [[2, 1, 0], [0, 0, 1]]
    assert counts.sizes.tolist() == [2, 1]


def test_the_prior_of_persons_is_a_share_of_persons():
    people = pa.table({"id": [1, 1, 2], "age": [1, 2, 3], "sex": ["f"] * 3, "illness": ["a", "b", "a"]})
    prior = Prior.of_persons(read(people))
    assert prior.counts.tolist() == [2, 1]
    assert prior.frequencies.tolist() == [1.0, 0.5]


# ------------------------------------------------------------------------------------------------------------ refusals


def test_an_identifier_that_repeats_is_refused_until_somebody_says_what_it_means():
    people = panel()
    with pytest.raises(dc.DiscreetError, match=r"identifier 'id' repeats.*person='id'.*leave 'id' out"):
        dc.read(people, quasi=QUASI, sensitive="illness", identifiers=["id"])
    assert dc.read(people, quasi=QUASI, sensitive="illness", identifiers=["id"], person="id").persons == 60
    alone = people.append_column("row", pa.array(range(people.num_rows)))
    assert dc.read(alone, quasi=QUASI, sensitive="illness", identifiers=["row"]).person is None


def test_a_row_that_is_nobodys_is_refused():
    people = pa.table({"id": [1, None, 2], "age": [1, 2, 3], "sex": ["f"] * 3, "illness": ["a", "b", "a"]})
    with pytest.raises(dc.DiscreetError, match="does not say whose row 2 is"):
        read(people)


@pytest.mark.parametrize(
    ("ids", "persons"),
    [
        (["1", "1.0", "1e0", " 1 ", "+1"], 1),
        (["0", "-0", "0.0", "-0.0"], 1),
        (["7", "007", "07", "7.0"], 3),
        (["12345678901234567891", "12345678901234567891.0", "12345678901234567892"], 2),
        (["1e-400", "0", "10e-401", "1e-99999999999999999999"], 3),
        (["a", " a", "a ", "b"], 2),
        (["1", "1.0", "a"], 3),
    ],
)
def test_a_person_is_one_however_the_number_is_written(tmp_path, ids, persons):
    source = tmp_path / "people.csv"
    source.write_text("id;age;sex;illness\n" + "".join(f"{one};3{at};f;a\n" for at, one in enumerate(ids)))
    assert read(source).persons == persons
    texts = pa.table({"id": ids, "age": range(len(ids)), "sex": ["f"] * len(ids), "illness": ["a"] * len(ids)})
    assert read(texts).persons == persons
    if persons < len(ids):
        with pytest.raises(dc.DiscreetError, match="identifier 'id' repeats"):
            dc.read(source, quasi=QUASI, sensitive="illness", identifiers=["id"])


def test_zero_is_one_person_whatever_its_sign():
    people = pa.table({"id": [0.0, -0.0, 1.5], "age": [1, 2, 3], "sex": ["f"] * 3, "illness": ["a", "b", "a"]})
    table = read(people)
    assert table.persons == 2 and table.person.tolist() == [0, 0, 1]
    with pytest.raises(dc.DiscreetError, match="k-anonymity"):
        dc.publish(read(people.slice(0, 2)), "k-anonymity(k=2)")


@pytest.mark.parametrize("scheme", ["anatomy", "baseline", "perturbation", "ambiguity", "retention"])
def test_schemes_that_publish_rows_one_by_one_refuse_and_name_one_that_does_not(scheme):
    promise = {"ambiguity": "alpha-beta(alpha=0.9, beta=0.9)", "anatomy": "l-diversity(l=2)"}.get(
        scheme, "beta-likeness(beta=2)"
    )
    with pytest.raises(dc.DiscreetError, match=r"promises nothing about persons who have several rows.*'cuts'"):
        dc.publish(read(panel()), promise, scheme)


@pytest.mark.parametrize(
    "promise", ["t-closeness(t=0.3)", "l-diversity(l=2, kind=entropy)", "l-diversity(l=2, kind=distinct)"]
)
def test_promises_about_all_values_together_need_one_value_per_person(promise):
    with pytest.raises(dc.DiscreetError, match=r"one value per person.*persons have different values of 'illness'"):
        dc.publish(read(panel()), promise)
    assert dc.publish(read(panel(constant=True)), promise).withheld == 0


def test_a_promise_that_all_persons_together_break_is_refused_with_what_they_keep():
    people = panel(constant=False, values="abcd")
    with pytest.raises(dc.DiscreetError, match=r"cannot keep l-diversity\(l=2\) about persons.*strongest.*l=1"):
        dc.publish(read(people), "l-diversity(l=2)")


def test_proximity_is_refused_with_the_way_out():
    people = panel().append_column("wage", pa.array(np.arange(panel().num_rows) * 10.0))
    table = dc.read(people, quasi=QUASI, sensitive="wage", person="id")
    with pytest.raises(dc.DiscreetError, match="give one row per person"):
        dc.publish(table, "proximity(epsilon=5, m=2)")


# ------------------------------------------------------------------------------------------------------------- audits


def test_a_release_by_rows_does_not_pass_for_one_about_persons(tmp_path):
    people = panel(400, 3)
    by_rows = dc.read(people, quasi=QUASI, sensitive="illness")
    release = dc.publish(by_rows, "k-anonymity(k=3)")
    folder = save(release, tmp_path / "rows")
    assert dc.audit(folder, by_rows, trace=release.trace).holds
    found = dc.audit(folder, read(people), trace=release.trace)
    broken = sum(not naive.keeps_k(rows, 3) for rows in groups_of(people, release.trace).values())
    assert broken > 0 and not found.holds
    assert found.promises[0].broken == broken
    assert f"By persons it is broken by {broken:,} groups" in found.promises[0].sentence


def test_persons_in_several_groups_are_found(tmp_path):
    people = panel(400, 3)
    by_rows = dc.read(people, quasi=QUASI, sensitive="illness")
    release = dc.publish(by_rows, "beta-likeness(beta=4)")
    found = dc.audit(save(release, tmp_path / "rows"), read(people), trace=release.trace)
    assert any(
        check.name == "persons" and "in several groups" in check.sentence for check in found.checks if not check.holds
    )


def test_without_the_trace_only_what_is_certain_is_confirmed(tmp_path):
    people = panel(400, 4)
    table = read(people)
    release = dc.publish(table, "k-anonymity(k=10)")
    folder = save(release, tmp_path / "release")
    assert not dc.audit(folder, table).holds  # ten persons may have as few as ten rows, and fifty rows be ten persons
    found = dc.audit(folder, table, promises="k-anonymity(k=2)")
    assert [kept.holds for kept in found.promises] == [True, False]
    assert "give the trace" in found.promises[1].sentence


def test_an_original_that_does_not_say_whose_rows_are_whose_is_refused(tmp_path):
    people = panel()
    release = dc.publish(read(people), "k-anonymity(k=3)")
    folder = save(release, tmp_path / "release")
    with pytest.raises(dc.DiscreetError, match=r"about persons.*person='id'"):
        dc.audit(folder, dc.read(people, quasi=QUASI, sensitive="illness"))


def test_another_number_of_persons_in_the_manifest_is_found(tmp_path):
    table = read(panel())
    release = dc.publish(table, "k-anonymity(k=3)")
    folder = save(release, tmp_path / "release")
    manifest = json.loads((folder / "release.json").read_text())
    assert manifest["persons"] == {"published": 60, "withheld": 0}
    manifest["persons"]["published"] = 61
    (folder / "release.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    describe(folder)
    found = dc.audit(folder, table, trace=release.trace)
    assert any(check.name == "persons" and not check.holds for check in found.checks)


def test_persons_who_miss_a_number_are_withheld_whole(tmp_path):
    people = panel(200, 5, constant=True)
    ages = people["age"].to_pylist()
    ages[:4] = [None] * 4
    people = people.set_column(1, "age", pa.array(ages))
    table = read(people, missing="withhold")
    release = dc.publish(table, "beta-likeness(beta=4)")
    gone = {person for person, age in zip(people["id"].to_pylist(), ages, strict=True) if age is None}
    for person, group in zip(people["id"].to_pylist(), release.trace.tolist(), strict=True):
        assert group == -1 or person not in gone
    assert release.manifest["persons"]["withheld"] >= len(gone)
    assert dc.audit(save(release, tmp_path / "release"), table, trace=release.trace).holds


# ------------------------------------------------------------------------------------------------------- command line


def test_the_command_line_takes_persons_from_the_file_to_the_audit(tmp_path):
    source, folder, trace = tmp_path / "panel.csv", tmp_path / "release", tmp_path / "panel.trace"
    pyarrow.csv.write_csv(panel(200, 6), source)
    run = CliRunner().invoke
    roles = ["--quasi", "age,sex", "--sensitive", "illness", "--promise", "k-anonymity(k=4)"]
    refused = run(main, ["publish", str(source), "-o", str(folder), *roles, "--identifier", "id"])
    assert refused.exit_code == 2 and "--person id" in refused.stderr and not folder.exists()
    done = run(main, ["publish", str(source), "-o", str(folder), *roles, "--person", "id", "--trace", str(trace)])
    assert done.exit_code == 0, done.output
    with (folder / "table.csv").open() as file:
        assert "id" not in next(csv.reader(file))
    judged = ["audit", str(folder), "--original", str(source), "--trace", str(trace)]
    assert run(main, [*judged, "--person", "id"]).exit_code == 0
    unsaid = run(main, judged)
    assert unsaid.exit_code == 2 and "--person id" in unsaid.stderr


# ------------------------------------------------------------------------------------------- what an attacker tried


def test_a_person_in_two_groups_is_found_where_the_manifest_says_there_is_none(tmp_path):
    people = pa.table(
        {"id": [0, 1, 2, 0, 3, 4], "age": [1, 1, 1, 9, 9, 9], "sex": ["f"] * 6, "illness": list("abcdef")}
    )
    table = read(people)
    by_rows = dc.publish(dc.read(people, quasi=QUASI, sensitive="illness"), "k-anonymity(k=3)")
    assert by_rows.manifest["groups"] == 2
    folder = save(by_rows, tmp_path / "release")
    manifest = json.loads((folder / "release.json").read_text())
    told = dc.publish(table, "k-anonymity(k=3)").manifest
    manifest = {key: manifest.get(key, told[key]) for key in told} | {"assumptions": told["assumptions"]}
    (folder / "release.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    describe(folder)
    found = dc.audit(folder, table, trace=by_rows.trace)
    assert [check.name for check in found.checks if not check.holds] == ["persons"]


def test_nothing_else_passes_for_a_number_of_persons(tmp_path):
    table = read(panel())
    release = dc.publish(table, "k-anonymity(k=3)")
    folder = save(release, tmp_path / "release")
    manifest = json.loads((folder / "release.json").read_text())
    manifest["persons"]["Bob"] = "HIV"
    (folder / "release.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    describe(folder)
    found = dc.audit(folder, table, trace=release.trace)
    assert any(check.name == "manifest" and "'Bob'" in check.sentence for check in found.checks if not check.holds)


def test_a_table_whose_persons_all_miss_a_number_is_refused_in_a_sentence():
    people = pa.table({"id": list("ppp"), "age": [1, 2, None], "sex": ["f"] * 3, "illness": list("aba")})
    with pytest.raises(dc.DiscreetError, match="every row is withheld"):
        dc.publish(read(people, missing="withhold"), "k-anonymity(k=1)", most_withheld=1)


@pytest.mark.parametrize("promise", ["beta-likeness(beta=2, level=1)", "l-diversity(l=2, kind=entropy)"])
def test_the_way_out_for_several_values_is_another_promise(promise):
    tree = {"x": ["a", "b"], "y": ["c", "d"]}
    people = pa.table({"id": [0, 0, 1, 1], "age": [1, 1, 2, 2], "sex": ["f"] * 4, "illness": list("abcd")})
    table = read(people, hierarchies={"illness": tree})
    with pytest.raises(dc.DiscreetError, match="beta-likeness without a level or for l-diversity of kind frequency"):
        dc.publish(table, promise)
    assert dc.publish(table, ["beta-likeness(beta=2)", "l-diversity(l=2)"]).rows == 4


def test_an_identifier_that_repeats_is_noted(tmp_path):
    lines = [f"{at // 2},{20 + at % 30},{'ab'[at % 2]},{at % 7}" for at in range(120)]
    (tmp_path / "panel.csv").write_text("\n".join(["patient_id,age,illness,visit", *lines]))
    words = ["publish", str(tmp_path / "panel.csv"), "-o", str(tmp_path / "r"), "--quasi", "age", "--force"]
    words += ["--sensitive", "illness", "--promise", "l-diversity(l=1.5)"]
    told = CliRunner().invoke(main, words)
    assert told.exit_code == 0, told.output
    assert "'patient_id' looks like an identifier and repeats." in told.stderr
    assert "say --person patient_id" in told.stderr
    assert "looks like an identifier" not in CliRunner().invoke(main, [*words, "--person", "patient_id"]).stderr
    kept = CliRunner().invoke(main, [*words, "--keep", "patient_id"])
    assert "'patient_id' looks like an identifier and repeats." in kept.stderr, "what is kept repeats all the same"


def test_with_one_row_each_a_person_is_a_row():
    people = pa.table({"id": [3, 1, 2], "age": [1, 2, 3], "sex": ["f"] * 3, "illness": list("abc")})
    assert read(people).person is None
    assert dc.publish(read(people), "l-diversity(l=2)", "anatomy").withheld == 0


def test_profile_suggests_a_command_that_names_nobody(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people = panel(90, 7).rename_columns(["Kennung", "Alter", "Geschlecht", "Diagnose"])
    codes = pa.array([f"K{int(text[1:]):04}" for text in people["Kennung"].to_pylist()])
    pyarrow.csv.write_csv(people.set_column(0, "Kennung", codes), "panel.csv")
    told = json.loads(CliRunner().invoke(main, ["profile", "panel.csv", "--json"]).stdout)
    assert told["suggested_roles"]["person"] == "Kennung"
    words = shlex.split(told["suggested_command"])
    assert words[words.index("--person") + 1] == "Kennung"
    assert "Kennung" not in words[words.index("--quasi") + 1].split(",")
    assert CliRunner().invoke(main, words[1:]).exit_code == 0
    assert "K00" not in (tmp_path / "release/table.csv").read_text()


def test_profile_tells_what_can_be_promised_about_persons(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(panel(90, 7, values="abcd"), "panel.csv")
    words = ["profile", "panel.csv", "--quasi", "age,sex", "--sensitive", "illness", "--person", "id", "--json"]
    told = {one["promise"]: one for one in json.loads(CliRunner().invoke(main, words).stdout)["reachable"]}
    assert "at most 18 groups" in told["k-anonymity(k=5)"]["sentence"]
    assert not told["l-diversity(l=2)"]["feasible"] and not told["t-closeness(t=0.2)"]["feasible"]
    for promise, one in told.items():
        table = dc.read("panel.csv", quasi=QUASI, sensitive="illness", person="id")
        if one["feasible"]:
            dc.publish(table, promise)
        else:
            with pytest.raises(dc.DiscreetError):
                dc.publish(table, promise)


def test_a_release_about_several_attributes_is_judged_by_persons_too(tmp_path):
    people = panel(60, 8)
    people = people.append_column("wage", pa.array(np.arange(people.num_rows) * 10.0))
    people = people.append_column("debt", pa.array(np.arange(people.num_rows)[::-1] * 7.0))
    roles = {"quasi": QUASI, "sensitive": ["wage", "debt"]}
    promise = "proximity(epsilon=5, m=2, attribute=wage) & proximity(epsilon=5, m=2, attribute=debt)"
    release = dc.publish(dc.read(people, **roles), promise)
    found = dc.audit(save(release, tmp_path / "release"), dc.read(people, person="id", **roles), trace=release.trace)
    assert not found.holds and {kept.attribute for kept in found.promises} == {"wage", "debt"}
