"""The whole job without a browser: from a file to an audited release and a report, and what may go wrong on the way."""

from __future__ import annotations

import html
import io
import re
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow.csv import write_csv
from starlette.testclient import TestClient

import discreet as dc
from discreet.app.desk import Desk
from discreet.app.guard import Guard
from discreet.app.screens import open as opening
from discreet.app.server import application
from discreet.datasets import patients_arrow

PORT = 8124
OWN = {"origin": f"http://127.0.0.1:{PORT}", "sec-fetch-site": "same-origin"}
ROLES = {"role-0": "identifiers", "role-4": "", "role-5": "sensitive", "kind-3": "categorical"}
ROLES |= dict.fromkeys(("role-1", "role-2", "role-3"), "quasi")
"""Name, age, sex, zip code, weight and disease."""


class Steward:
    """Somebody at the app."""

    def __init__(self, folder: Path, client: TestClient, desk: Desk) -> None:
        self.folder, self.client, self.desk = folder, client, desk

    def get(self, path: str) -> str:
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return html.unescape(answer.text)

    def post(self, path: str, /, status: int = 303, **fields: str) -> str:
        """Send a form with the number that the app has now; return what is shown then."""
        content = {"number": str(self.desk.number), **fields}
        answer = self.client.post(path, data=content, headers=OWN)
        assert answer.status_code == status, answer.text
        return self.ended(answer.headers["location"]) if status == 303 else html.unescape(answer.text)

    def ended(self, path: str) -> str:
        """What is shown at last, when the work that was begun has ended."""
        for _ in range(1200):
            busy = self.desk.task is not None and self.desk.task.running
            answer = self.client.get(path)
            if answer.status_code == 303:
                path = answer.headers["location"]
            elif path != "/working" or not busy:
                return html.unescape(answer.text)
            time.sleep(0.05)
        raise AssertionError("the work did not end")

    def at_the_table(self) -> str:
        write_csv(patients_arrow(), self.folder / "patients.csv")
        return self.post("/open", path=str(self.folder / "patients.csv"))


@pytest.fixture
def steward(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Steward]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "private").mkdir()
    desk = Desk(tmp_path / "private")
    guard = Guard(application(desk), PORT)
    with TestClient(guard, base_url=f"http://127.0.0.1:{PORT}", follow_redirects=False) as client:
        client.get("/", params={"token": guard.token})
        yield Steward(tmp_path, client, desk)
    assert not (tmp_path / "private").exists()


@pytest.mark.slow
def test_from_a_file_to_a_release_and_a_report(steward: Steward) -> None:
    seen = steward.at_the_table()
    assert "48 rows" in seen and "guesses by names" in seen
    assert re.search(r'name="role-5"[^§]*?<option value="sensitive" selected', seen)
    seen = steward.post("/table", **ROLES)
    assert "stand out" in seen and "--quasi age,sex,zip" in steward.get("/table")
    assert "can be kept" in steward.get("/choose")
    seen = steward.post("/choose", promise="k-anonymity(k=5) & beta-likeness(beta=2)", scheme="")
    assert "k-anonymity(k=5) & beta-likeness(beta=2)" in seen and 'promises = ["k-anonymity(k=5)"' in seen
    seen = steward.post("/publish", output="release", trace="trace.csv", format="csv")
    assert "Published: what is promised holds" in seen and "The smallest group" in seen
    table = dc.read(
        steward.folder / "patients.csv",
        quasi=["age", "sex", "zip"],
        sensitive="disease",
        identifiers=["name"],
        categorical=["zip"],
    )
    assert dc.audit(steward.folder / "release", table, trace=steward.folder / "trace.csv").holds
    packed = zipfile.ZipFile(io.BytesIO(steward.client.get("/release.zip").content))
    assert sorted(packed.namelist()) == sorted(
        f"release/{path.name}" for path in (steward.folder / "release").iterdir()
    )
    assert all(
        packed.read(f"release/{path.name}") == path.read_bytes() for path in (steward.folder / "release").iterdir()
    )
    assert {info.date_time for info in packed.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    steward.get("/count")
    seen = steward.post("/count", sql="SELECT COUNT(*) FROM t WHERE disease = 'angina'")
    assert re.search(r'<td class="number">10</td>.*<td class="number">10</td></tr>', seen), seen
    assert "That did not work" in steward.post("/count", sql="DROP TABLE t")
    assert '<td class="number">2,333</td>' in steward.post("/count", sql="SELECT SUM(age) FROM t")
    assert "it is for you alone" in steward.get("/person")
    seen = steward.post("/person", row="3")
    person = table.sensitive_attribute.texts[table.sensitive_codes[2]]
    assert f'{person} <span class="quiet">(this person\'s)</span>' in seen and "Known: " in seen
    assert "no row 49: the table has 48 rows" in steward.post("/person", row="49")
    assert "is no number of a row" in steward.post("/person", 400, row="x")
    assert "contains values of the original" in steward.post("/report", kind="internal")
    page = steward.client.get("/report/page")
    assert "Privacy report" in page.text and "script-src" not in page.headers["content-security-policy"]
    assert "made from the release alone" in steward.post("/report", kind="shareable")
    seen = steward.post("/check", folder="release", original="patients.csv", promise="")
    assert "release: holds" in seen


@pytest.mark.slow
def test_a_hierarchy_is_made_changed_kept_and_used(steward: Steward) -> None:
    steward.at_the_table()
    steward.post("/table", **ROLES)
    seen = steward.get("/hierarchies")
    assert "Make a hierarchy of zip" in seen and "Make a hierarchy of disease" not in seen
    seen = steward.post("/hierarchies/make", at="1", kind="balanced")
    assert "2 values on 2 levels" in seen and 'value="F"' in seen
    draft = steward.desk.drafts["sex"]
    steward.post("/hierarchies/change", at="1", what="group", node="F", label="adult")
    assert draft.rows == [("F", "adult", "*"), ("M", "M", "*")]
    steward.post("/hierarchies/change", at="1", what="rename", node="adult", label="women & <b>")
    assert "women & <b>" in steward.get("/hierarchies?at=1")
    assert "&lt;b&gt;" in steward.client.get("/hierarchies?at=1").text
    assert "is no group" in steward.post("/hierarchies/change", 400, at="1", what="rename", node="F", label="x")
    assert "the one group that is meant" in steward.post("/hierarchies/change", 400, at="1", what="out", label="")
    assert "is chosen to be grouped" in steward.post("/hierarchies/change", 400, at="1", what="group", label="x")
    steward.post("/hierarchies/change", at="1", what="undo")
    steward.post("/hierarchies/change", at="1", what="out", node="adult")
    assert draft.rows == [("F", "*"), ("M", "*")]
    seen = steward.post("/hierarchies/change", at="1", what="text", text="F;any\r\n")
    assert "missing leaf" in seen and "column 'sex' holds 'M' in row" in seen and "1 fault" in seen
    assert "has faults" in steward.post("/hierarchies/keep", 400, at="1", file="sex.csv")
    seen = steward.post("/hierarchies/change", at="1", what="text", text="F;any\nM;any\n")
    assert "has to end with .csv" in steward.post("/hierarchies/keep", 400, at="1", file="sex.txt")
    assert "would overwrite the table" in steward.post("/hierarchies/keep", 400, at="1", file="patients.csv")
    seen = steward.post("/hierarchies/keep", at="1", file="sex.csv")
    assert "The table is read with" in seen
    assert (
        (steward.folder / "sex.csv").read_text()
        == "F;any\nM;any\n"
        == steward.client.get("/hierarchies/file?at=1").text
    )
    assert "--hierarchy sex=" in steward.get("/choose")
    seen = steward.post("/hierarchies/make", at="2", kind="")
    assert "prefix" in seen and steward.desk.drafts["zip"].recipe
    assert "recipe is changed in its text" in steward.post(
        "/hierarchies/change", 400, at="2", what="group", node="x", label="y"
    )
    steward.post("/hierarchies/keep", at="2", file="zip.toml")
    steward.post("/choose", promise="k-anonymity(k=5) & beta-likeness(beta=2)", scheme="")
    assert "Published: what is promised holds" in steward.post("/publish", output="release", trace="", format="csv")
    manifest = (steward.folder / "release" / "release.json").read_text()
    assert '"prefix"' in manifest and '"any"' in manifest
    steward.post("/hierarchies/leave", at="1")
    assert steward.desk.reading["hierarchies"] == {"zip": str(steward.folder / "zip.toml")}
    assert not list((steward.folder / "private").glob("hierarchy*"))


@pytest.mark.slow
def test_advice_is_a_click_from_being_taken(steward: Steward) -> None:
    steward.at_the_table()
    steward.post("/table", **ROLES)
    seen = steward.post("/advise")
    assert "For open web" in seen and "For colleagues under contract" in seen
    picture = steward.client.get("/choose/picture")
    assert picture.headers["content-type"] == "image/svg+xml" and "for open web" in picture.text
    assert "script-src" not in picture.headers["content-security-policy"]
    promise = re.search(r'name="promise" value="([^"]+)"', seen)
    scheme = re.search(r'name="scheme" value="([^"]+)"', seen)
    assert promise and scheme
    assert scheme[1] in steward.post("/choose", promise=promise[1], scheme=scheme[1])


REFUSED = [
    ("/open", {"path": ""}, "no file is named"),
    ("/open", {"path": "nowhere.csv"}, "there is no file 'nowhere.csv'; check the path"),
    ("/table", {"role-0": "quasi", "role-1": "person", "role-2": "person"}, "only one column can tell whose row"),
    ("/table", {}, "no column is one that others may know"),
    ("/table", {"role-0": "king"}, "the form cannot be read"),
    ("/choose", {"promise": ""}, "no promise is named"),
    ("/choose", {"promise": "secrecy(s=1)"}, "secrecy"),
    ("/choose", {"promise": "k-anonymity(k=5)", "scheme": "alchemy"}, "alchemy"),
    ("/publish", {"output": ""}, "no folder is named"),
    ("/report", {}, "nothing was published"),
    ("/count", {"sql": "SELECT COUNT(*) FROM t"}, "nothing was published"),
    ("/person", {"row": "1"}, "nothing was published"),
    ("/hierarchies/change", {"at": "0", "what": "undo"}, "the form cannot be read"),
    ("/hierarchies/make", {"at": "x"}, "the form cannot be read"),
    ("/check", {"folder": "", "original": ""}, "name the folder of the one, and the other"),
]


def test_what_cannot_be_done_is_said_in_a_sentence(steward: Steward) -> None:
    steward.at_the_table()
    for path, fields, says in REFUSED:
        seen = steward.post(path, status=400, **fields)
        assert "That did not work" in seen and says.lower() in seen.lower() and "internal error" not in seen
        assert steward.desk.profile is not None and not steward.desk.promises, "nothing is lost or changed"


@pytest.mark.slow
def test_work_that_fails_says_why_and_leaves_nothing(steward: Steward) -> None:
    steward.at_the_table()
    steward.post("/table", **ROLES)
    steward.post("/choose", promise="l-diversity(l=40)", scheme="")
    seen = steward.post("/publish", output="release", trace="", format="csv")
    assert "That did not work" in seen and "l-diversity(l=40)" in seen
    assert not (steward.folder / "release").exists()
    (steward.folder / "broken.xlsx").write_bytes(b"PK\x03\x04 no spreadsheet")
    assert "That did not work" in steward.post("/open", path="broken.xlsx")


@pytest.mark.slow
def test_a_page_that_is_out_of_date_changes_nothing(steward: Steward) -> None:
    steward.at_the_table()
    old = str(steward.desk.number)
    steward.post("/table", **ROLES)
    seen = steward.post("/table", status=409, **{**ROLES, "number": old})
    assert "out of date" in seen and steward.desk.reading["quasi"] == ["age", "sex", "zip"]
    assert "out of date" in steward.post("/open", status=409, path="patients.csv", number="")


@pytest.mark.slow
def test_work_can_be_cancelled(steward: Steward) -> None:
    steward.at_the_table()
    steward.post("/table", **ROLES)
    answer = steward.client.post("/advise", data={"number": str(steward.desk.number)}, headers=OWN)
    assert answer.headers["location"] == "/working" and "Cancel" in steward.get("/working")
    busy = steward.client.post("/advise", data={"number": str(steward.desk.number)}, headers=OWN)
    assert busy.status_code == 409 and "work under way" in busy.text
    steward.client.post("/cancel", headers=OWN)
    assert "it was cancelled" in steward.ended("/working").lower() and steward.desk.advice is None


def test_progress_is_sent_until_the_work_has_ended(steward: Steward) -> None:
    write_csv(patients_arrow(), steward.folder / "patients.csv")
    content = {"number": str(steward.desk.number), "path": "patients.csv"}
    steward.client.post("/open", data=content, headers=OWN)
    sent = steward.client.get("/working/events").text
    assert sent.startswith("data: {") and sent.rstrip().endswith('"running": false}')


@pytest.mark.slow
def test_an_upload_is_streamed_to_the_private_folder_under_a_name_of_ours(
    steward: Steward, monkeypatch: pytest.MonkeyPatch
) -> None:
    def upload(name: str, content: bytes) -> tuple[int, dict[str, str]]:
        given = {"number": str(steward.desk.number), "name": name}
        answer = steward.client.put("/upload", params=given, content=content, headers=OWN)
        return answer.status_code, answer.json()

    write_csv(patients_arrow(), steward.folder / "patients.csv")
    content = (steward.folder / "patients.csv").read_bytes()
    for name in ("patients.csv", "../../patients.csv", "a/b.csv", "x\x00.csv", "." * 300, "<script>.csv"):
        assert upload(name, content) == (200, {"next": "/working"}), name
        assert "48 rows" in steward.ended("/working")
    held = {path.name for path in (steward.folder / "private").iterdir()}
    assert all(re.fullmatch(r"table-\d+(\.[A-Za-z0-9]+)*", name) for name in held)
    assert {path.name for path in steward.folder.iterdir()} == {"patients.csv", "private"}
    (half := steward.folder / "private" / f"table-{steward.desk.number}.csv").touch()  # as another tab copies it
    status, answer = upload("patients.csv", content)
    assert status == 409 and "another tab is copying" in answer["fault"]
    half.unlink()
    monkeypatch.setattr(opening, "LARGEST", 1000)
    status, answer = upload("large.csv", content)
    assert status == 413 and "open it by its path" in answer["fault"]
    assert {path.name for path in (steward.folder / "private").iterdir()} == held


HOSTILE = [
    "<script>alert(1)</script>",
    "=cmd|' /C calc'!A0",
    '"><img src=x onerror=alert(1)>',
    "{{ 7 * 7 }}",
    "\x1b[2J",
]


@pytest.mark.slow
def test_nothing_in_a_hostile_table_is_executed_or_unescaped(steward: Steward) -> None:
    path = steward.folder / "hostile.csv"
    header = ",".join('"' + name.replace('"', '""') + '"' for name in HOSTILE)
    line = ",".join('"' + (name + " value").replace('"', '""') + '"' for name in HOSTILE)
    path.write_text("\n".join([header, *[line] * 30]) + "\n", encoding="utf-8")
    answer = steward.client.post("/open", data={"number": str(steward.desk.number), "path": str(path)}, headers=OWN)
    steward.ended(answer.headers["location"])
    fields = {f"role-{at}": "quasi" for at in range(len(HOSTILE) - 1)} | {f"role-{len(HOSTILE) - 1}": "sensitive"}
    for seen in (steward.client.get("/table").text,):
        assert "<script>alert" not in seen and "<img src=x" not in seen and "49" not in seen and "\x1b" not in seen
        assert html.escape(HOSTILE[0]) in seen
    steward.post("/table", **fields)
    for path_of in ("/table", "/choose"):
        seen = steward.client.get(path_of).text
        assert "<script>alert" not in seen and "<img src=x" not in seen and "\x1b" not in seen
