"""Who may talk to the app: nobody but the browser that opened its address."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from discreet.app.desk import Desk
from discreet.app.guard import Guard
from discreet.app.server import ROUTES, application

PORT = 8123
HOST = f"127.0.0.1:{PORT}"


@pytest.fixture
def guard(tmp_path: Path) -> Guard:
    (tmp_path / "private").mkdir()
    return Guard(application(Desk(tmp_path / "private")), PORT)


@pytest.fixture
def stranger(guard: Guard) -> Iterator[TestClient]:
    with TestClient(guard, base_url=f"http://{HOST}", follow_redirects=False) as client:
        yield client


@pytest.fixture
def steward(guard: Guard, stranger: TestClient) -> TestClient:
    """Whoever opened the address."""
    answer = stranger.get("/", params={"token": guard.token})
    assert answer.status_code == 303 and answer.headers["location"] == "/"
    return stranger


def test_the_token_is_exchanged_for_a_cookie_that_other_sites_cannot_use(guard: Guard, steward: TestClient) -> None:
    assert guard.address == f"http://{HOST}/?token={guard.token}" and len(guard.token) >= 40
    answer = steward.get("/", params={"token": guard.token})
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and guard.token not in cookie
    assert steward.get("/").status_code == 200


@pytest.mark.parametrize("path", sorted({path.replace("{name}", "app.js") for path, _, _ in ROUTES}))
def test_nothing_is_answered_without_the_cookie(stranger: TestClient, path: str) -> None:
    for headers in ({}, {"cookie": f"discreet-{PORT}=x"}, {"cookie": "=; ;;"}):
        assert stranger.get(path, headers=headers).status_code == 401
    own = {"origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}
    assert stranger.post(path, headers=own).status_code == 401


@pytest.mark.parametrize("token", ["", "x", "é", "token\x00"])
def test_a_wrong_token_opens_nothing(stranger: TestClient, token: str) -> None:
    answer = stranger.get("/", params={"token": token})
    assert answer.status_code in (401, 403) and "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "host",
    ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:80", f"127.0.0.1:{PORT}0", f"[::1]:{PORT}", ""],
)
def test_another_name_of_the_machine_is_refused(guard: Guard, steward: TestClient, host: str) -> None:
    assert steward.get("/", headers={"host": host}).status_code == 421
    assert steward.get("/", params={"token": guard.token}, headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"http://localhost:{PORT}"},
        {"origin": f"https://{HOST}"},
        {"origin": f"http://{HOST}", "sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "none"},
    ],
)
def test_what_changes_something_comes_from_the_app(steward: TestClient, headers: dict[str, str]) -> None:
    for path, method, _ in ROUTES:
        if method != "GET":
            answer = steward.request(method, path, headers=headers, content=b"number=0")
            assert answer.status_code == 403, path


def test_every_answer_forbids_foreign_scripts_styles_and_frames(guard: Guard, steward: TestClient) -> None:
    for path in ("/", "/nowhere", "/static/app.js", "/static/..%2Fserver.py", "/check"):
        headers = steward.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff" and headers["cache-control"] == "no-store"
    assert steward.get("/nowhere").status_code == steward.get("/static/..%2Fserver.py").status_code == 404
    assert "script-src 'self'" in steward.get("/").headers["content-security-policy"]
