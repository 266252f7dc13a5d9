"""The page's server: a handful of files of ours, and nothing else of the machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests

from demo.page_server import PageServer


@pytest.fixture
def page() -> Iterator[PageServer]:
    with PageServer("http://localhost:9", actor="U0ANA", channel="C0OPS") as server:
        yield server


def test_it_serves_its_files_and_says_where_slack_is(page: PageServer) -> None:
    """With their types, and with a policy that lets the page talk to that server only."""
    answer = requests.get(f"{page.url}/page.js", timeout=60)
    assert answer.headers["Content-Type"] == "text/javascript; charset=utf-8"
    assert "connect-src 'self' ws://localhost:9;" in answer.headers["Content-Security-Policy"]
    settings = requests.get(f"{page.url}/page.json", timeout=60).json()
    assert settings == {"slack": "http://localhost:9", "actor": "U0ANA", "channel": "C0OPS"}


@pytest.mark.parametrize(
    "path", ["", "archives/C0OPS/p1795230720000100", "../pyproject.toml", "%2e%2e/run.py", "page_server.py"]
)
def test_every_other_address_is_the_page_itself(page: PageServer, path: str) -> None:
    """A link to a message opens the page; no path leads out of its folder."""
    answer = requests.get(f"{page.url}/{path}", timeout=60)
    assert answer.text.startswith("<!doctype html>")
