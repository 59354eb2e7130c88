"""The app in a real browser: the whole job, by mouse and by keyboard, with a strict policy and a clean console."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from pyarrow.csv import write_csv

import discreet as dc
from discreet.datasets import patients_arrow

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE = 120_000
"""Milliseconds to wait for long work: the first use of a scheme compiles it."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(BROWSER is None, reason="there is no browser here: apt-get install chromium"),
]


class Visit:
    """A browser at an app, and all that it asked for and complained of."""

    def __init__(self, page: Any, address: str) -> None:
        self.page, self.address = page, address
        self.asked: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda fault: self.complaints.append(str(fault)))

    def screen(self, name: str) -> str:
        """Wait for a screen, and return what a screen reader finds on it."""
        self.page.wait_for_url(f"**/{name}", timeout=PATIENCE)
        snapshot: str = self.page.locator("body").aria_snapshot()
        assert "- main:" in snapshot and "- navigation" in snapshot and "- heading" in snapshot
        return snapshot


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A running app, in a folder with a table; it ends by Ctrl+C, prints no value, and leaves no private folder."""
    write_csv(patients_arrow(), tmp_path / "patients.csv")
    (temporary := tmp_path / "temporary").mkdir()
    words = [sys.executable, "-m", "discreet", "app", "--no-browser"]
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    env = {**os.environ, "TMPDIR": str(temporary)}
    with subprocess.Popen(words, cwd=tmp_path, env=env, text=True, **both) as app:  # type: ignore[call-overload]
        assert app.stdout is not None and app.stderr is not None
        line = app.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:\d+/\?token=\S+", line)
        assert found, line
        yield found[0]
        (private,) = temporary.glob("discreet-app-*")
        assert private.stat().st_mode & 0o077 == 0
        app.send_signal(signal.SIGINT)
        rest, said = app.communicate(timeout=30)
    assert app.returncode == 130 and "Traceback" not in said, said
    assert "patients" not in rest + said, "no value and no name of a table is printed"
    assert not list(temporary.glob("discreet-app-*"))


@pytest.fixture
def visit(address: str) -> Iterator[Visit]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=FLAGS)
        yield Visit(browser.new_page(viewport={"width": 1000, "height": 800}), address)
        browser.close()


def test_the_whole_job_from_a_file_to_a_report(visit: Visit, tmp_path: Path) -> None:
    page = visit.page
    page.goto(visit.address)
    assert "token" not in page.url
    page.set_input_files("#file", str(tmp_path / "patients.csv"))
    assert "combobox" in visit.screen("table")
    page.get_by_role("button", name="Take these roles").click()
    page.get_by_role("link", name="On to the promise").click(timeout=PATIENCE)
    visit.screen("choose")
    page.get_by_role("button", name="Try the choices on this table").click()
    page.get_by_role("button", name="Take this for registered researchers").click(timeout=PATIENCE)
    visit.screen("publish")
    page.get_by_label("Folder of the release").fill("release")
    page.get_by_role("button", name="Publish").click()
    assert "what is promised holds" in visit.screen("release")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as a zip").click()
    assert download.value.suggested_filename == "release.zip"
    page.get_by_role("link", name="Report for the board").click()
    page.get_by_label("shareable").check()
    page.get_by_role("button", name="Write the report").click()
    page.get_by_role("link", name="Open it").wait_for(timeout=PATIENCE)
    with page.expect_popup() as popup:
        page.get_by_role("link", name="Open it").click()
    popup.value.get_by_role("heading", name="Privacy report").wait_for(timeout=PATIENCE)
    page.goto("/".join(visit.address.split("/")[:3]) + "/release")
    page.go_back()
    visit.screen("report")
    assert {urlsplit(url).hostname for url in visit.asked if not url.startswith("data:")} == {"127.0.0.1"}
    assert not visit.complaints
    assert dc.load(tmp_path / "release").rows == 48


def test_the_keyboard_alone_is_enough(visit: Visit, tmp_path: Path) -> None:
    page = visit.page

    def press_on(name: str) -> None:
        """Go from element to element until the one of this name has the focus, and press it."""
        for _ in range(60):
            page.keyboard.press("Tab")
            focused = "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent"
            if page.evaluate(focused).strip() == name:
                page.keyboard.press("Enter")
                return
        raise AssertionError(f"the keyboard does not reach {name!r}")

    page.goto(visit.address)
    press_on("Take the patients")
    visit.screen("table")
    press_on("Take these roles")
    page.get_by_role("link", name="On to the promise").wait_for(timeout=PATIENCE)
    press_on("On to the promise")
    visit.screen("choose")
    page.get_by_label("strength of beta-likeness").focus()
    for key in ("ArrowRight", "Tab", "Enter"):
        page.keyboard.press(key)
    assert page.get_by_label("Promise", exact=True).input_value().endswith(" & beta-likeness(beta=1.5)")
    press_on("Take this promise")
    visit.screen("publish")
    press_on("Publish")
    visit.screen("publish")  # the step of this name comes before the button
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.tagName") == "BUTTON":
            break
    page.keyboard.press("Enter")
    assert "what is promised holds" in visit.screen("release")
    assert (tmp_path / "release" / "release.json").exists() and not visit.complaints


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_every_screen_without_scrolling_sideways(visit: Visit, scheme: str) -> None:
    page = visit.page
    page.set_viewport_size({"width": 360, "height": 780})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto(visit.address)
    page.get_by_role("button", name="Take the patients").click()
    visit.screen("table")
    page.get_by_role("button", name="Take these roles").click()
    page.get_by_role("link", name="On to the promise").wait_for(timeout=PATIENCE)
    for name in ("", "table", "hierarchies", "choose", "check"):
        page.goto("/".join(visit.address.split("/")[:3]) + f"/{name}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, name
