"""One team, two codebases on two code hosts: each patch becomes a draft where its code is, by its own limits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from blocks import ids
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, OPS
from tests.code_host import TOKEN, CodeHost
from tests.gitrepo import git, make_repo
from tests.hands import Control
from tests.journeys.shop import SHOP
from tests.journeys.test_codebases import INFRA
from tests.journeys.test_fixes import CHECK, KEY, FixOffice, files_below, script_of
from tests.model_server import ModelServer, load_script

QUESTION = "How often do we retry the payment gateway, and how many workers does the queue get? Please raise both."
RETRY = """--- a/shop/retry.py
+++ b/shop/retry.py
@@ -2,3 +2,3 @@

-MAX_ATTEMPTS = 5
+MAX_ATTEMPTS = 7
 FIRST_DELAY_S = 0.5
"""
WORKERS = """--- a/{0}
+++ b/{0}
@@ -2,3 +2,3 @@

-MIN_WORKERS = 2
+MIN_WORKERS = 4

"""

Open = Callable[..., FixOffice]


@pytest.fixture
def hosts(tmp_path: Path) -> Iterator[dict[str, CodeHost]]:
    """The shop on GitHub, the machines on GitLab."""
    with CodeHost(tmp_path / "github") as github, CodeHost(tmp_path / "gitlab", "gitlab") as gitlab:
        github.publish(make_repo(tmp_path / "shop", SHOP))
        gitlab.publish(make_repo(tmp_path / "infra", INFRA))
        yield {"shop": github, "infra": gitlab}


@pytest.fixture
def open_office(slack: LocalSlack, control: Control, tmp_path: Path, hosts: dict[str, CodeHost]) -> Iterator[Open]:
    """Opens an office over both whose model proposes a patch; each codebase has settings of its own."""
    with ExitStack() as stack:

        def opened(diff: str, tokens: dict[str, str], infra: Any = None, **more: Any) -> FixOffice:
            script = script_of(diff, tmp_path / "script.yml", codebase="shop:")
            server = stack.enter_context(ModelServer(load_script(script)))
            variables = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url, **tokens}
            codebases = {name: {"path": str(tmp_path / name), "code_host": host.kind} for name, host in hosts.items()}
            codebases["shop"]["fixes"] = {"check": CHECK}  # type: ignore[assignment]
            if infra is not None:
                codebases["infra"]["fixes"] = infra
            office = FixOffice(slack, control, tmp_path / "home", tmp_path, variables, codebases=codebases, **more)
            office.bot.start()
            stack.callback(office.bot.stop)
            control.wait_for(control.modals.is_bot_connected, "the bot to connect")
            return office

        yield opened


BOTH = {"TRIAGE_GITHUB_TOKEN": TOKEN, "TRIAGE_GITLAB_TOKEN": TOKEN}


def test_the_draft_is_opened_where_its_code_is(open_office: Open, hosts: dict[str, CodeHost], tmp_path: Path) -> None:
    """The draft cites the shop; the patch changes the other one, and lands on that one's host."""
    office = open_office(WORKERS.format("infra:deploy/workers.py"), BOTH)
    ts = office.ask(QUESTION)
    card = office.card(ts, "Proposed patch", offering=ids.OPEN_FIX)
    assert "`infra` on GitLab" in str(card["blocks"])
    office.click(card, ids.OPEN_FIX)
    card = office.card(ts, "Draft PR <")
    assert f"{hosts['infra'].origin}/acme/shop/-/merge_requests/1" in str(card["blocks"])
    [pull] = hosts["infra"].pulls
    assert pull["title"].startswith("Draft: ")
    assert (hosts["shop"].pulls, hosts["shop"].branches()) == ([], {})
    [commit] = hosts["infra"].branches().values()
    assert "MIN_WORKERS = 4" in git(hosts["infra"].bare, "show", f"{commit}:deploy/workers.py")
    assert "no check was run" in pull["body"]


def test_the_other_codebase_has_its_own_host_and_check(open_office: Open, hosts: dict[str, CodeHost]) -> None:
    """Found by what the draft cites, where the patch names no codebase; its check runs."""
    office = open_office(RETRY, BOTH)
    ts, _ = office.ask_and_open(hosts["shop"], QUESTION)
    office.card(ts, "Draft PR <")
    [pull] = hosts["shop"].pulls
    assert "passes" in pull["body"]
    assert f"{hosts['shop'].origin}/acme/shop/blob/" in pull["body"]
    assert hosts["infra"].pulls == []


@pytest.mark.full
def test_a_codebase_has_a_check_of_its_own(open_office: Open, hosts: dict[str, CodeHost]) -> None:
    """One that always fails, in the machines only."""
    office = open_office(WORKERS.format("infra:deploy/workers.py"), BOTH, infra={"check": ["false"]})
    ts, _ = office.ask_and_open(hosts["infra"], QUESTION)
    assert "The check `false` did not pass" in shown_text(office.card(ts, "No draft PR"))
    assert hosts["infra"].branches() == {}


def test_a_patch_of_two_codebases_is_refused_in_a_sentence(open_office: Open, hosts: dict[str, CodeHost]) -> None:
    """On the card, before anybody clicks; another investigation is offered."""
    office = open_office(
        RETRY.replace(" a/", " a/shop:").replace(" b/", " b/shop:") + WORKERS.format("infra:deploy/workers.py"), BOTH
    )
    ts = office.ask(QUESTION)
    card = office.card(ts, "The patch changes files of `infra` and `shop`", offering=ids.REINVESTIGATE)
    assert "a draft PR is for one codebase" in shown_text(card)
    assert find_element(card, ids.OPEN_FIX) is None
    assert find_element(card, ids.VIEW_DIFF) is not None


@pytest.mark.full
def test_the_codebase_without_a_token_gives_a_file(open_office: Open, hosts: dict[str, CodeHost]) -> None:
    """With paths as they are in its checkout, whose name is said."""
    office = open_office(WORKERS.format("infra:deploy/workers.py"), {"TRIAGE_GITHUB_TOKEN_SHOP": TOKEN})
    ts = office.ask(QUESTION)
    card = office.card(ts, "Proposed patch", offering=ids.OPEN_FIX)
    assert "Patch as a file" in str(card["blocks"])
    office.click(card, ids.OPEN_FIX)
    office.told(ANA.user_id, "the patch is a file in this card's thread")
    [file] = office.control.wait_for(lambda: files_below(office, card), "the file")
    assert file["name"] == "triage.patch"
    said = office.control.wait_for(lambda: below(office, card, "In a checkout of"), "what to type")
    assert "In a checkout of `infra`" in said


def below(office: FixOffice, card: dict[str, Any], words: str) -> str | None:
    """Return what stands in a card's thread with these words."""
    said = [m["text"] for m in office.control.messages(OPS.channel_id) if m.get("thread_ts") == card["ts"]]
    return next((text for text in said if words in text), None)
