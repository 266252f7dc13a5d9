"""The page of a backtest in a browser: foreign words stay words, and marks are saved as the next run reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.casework.known_answers import Backtest
from bot.casework.past_threads import hear
from bot.casework.reports.classifier_samples import read_marks
from bot.cli.backtest.command import write_page
from bot.intake.classifier.classification import Rules
from tests.builders import an_event
from tests.journeys.browser import open_browser

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\"> {{data}}?"


@pytest.mark.full
def test_a_message_is_marked_and_the_file_is_read_back(tmp_path: Path) -> None:
    """Nothing of a message runs, and nothing is loaded from elsewhere."""
    heard = hear([an_event(HOSTILE, ts="1795165200.000100"), an_event("deploying", ts="1795165201.000100")], Rules())
    done = Backtest(title="x.zip", investigator="none", unreadable=0, heard=heard, drafts=[], own={}, marks=[])
    write_page(tmp_path / "page.html", done, {"U1": "Ana"}, "8-test")
    with open_browser() as browser:
        page = browser.new_page()
        loaded: list[str] = []
        page.on("request", lambda request: loaded.append(request.url))
        page.goto((tmp_path / "page.html").as_uri())
        assert page.title() == "triage backtest"
        assert HOSTILE in page.locator("#messages .text").first.inner_text()
        page.locator("#messages").get_by_role("button", name="Right").first.click()
        page.locator("#messages").get_by_role("button", name="Wrong").last.click()
        with page.expect_download() as saved:
            page.get_by_role("button", name="Save marks").click()
        text = Path(saved.value.path()).read_text("utf-8")
        assert [url for url in loaded if not url.startswith(("file:", "blob:"))] == []
    assert [(one.classification, one.right) for one in read_marks(text)] == [("actionable", True), ("ambient", False)]
