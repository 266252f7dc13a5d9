"""Killed at every named step of a fix, started again: one branch and one draft pull request, whatever died.

Part of `make test-full`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from blocks import ids
from demo.headless import find_element, shown_text
from demo.slack_server import LocalSlack
from demo.workspace import ANA, OPS
from tests.code_host import TOKEN, CodeHost, Fault
from tests.crashes.life import Life
from tests.crashes.moments import Moment, after, before
from tests.crashes.proxy import withholding_proxy
from tests.crashes.steps import met
from tests.gitrepo import git, make_repo
from tests.hands import Control
from tests.journeys.office import write_config
from tests.journeys.shop import SHOP
from tests.journeys.test_fixes import CHECK, DIFF, KEY, QUESTION, script_of
from tests.model_server import ModelServer, load_script

SAVED = r"put fixes \S+ .*"
WANTED, INTENT, OPENED = (
    SAVED + '"status": "opening".*"pushed": \\[\\]',
    SAVED + r'"pushed": \[\s*"',
    SAVED + '"status": "open"',
)
PUSH, CHECKING, REQUEST = r"run .*git .* push ", r"run .*exec\(test", r"send POST /api/v3/repos/acme/shop/pulls"
NAMED, SHOWN = r'put threads \S+ .*"fix_url": "http', SAVED + '"status": "open".*"is_shown": true'


class Step(NamedTuple):
    """One place to die, what stands on the host then, and where the next start dies as well."""

    name: str
    kill: Moment | None
    branches: int
    pulls: int
    then: Moment | None = None
    lost: bool = False
    """Whether the answer to the request is lost as well."""


STEPS = (
    Step("before the wish is on file", before(WANTED), 0, 0),
    Step("wish on file", after(WANTED), 0, 0),
    Step("during the check", before(CHECKING), 0, 0),
    Step("before the intent to push", before(INTENT), 0, 0),
    Step("intent on file, not pushed", after(INTENT), 0, 0),
    Step("before the push", before(PUSH), 0, 0),
    Step("pushed, no request", before(REQUEST), 1, 0),
    Step("request made, not answered", None, 1, 1, lost=True),
    Step("request made, not on file", before(OPENED), 1, 1),
    Step("request on file, draft does not name it", before(NAMED), 1, 1),
    Step("draft names it, card not shown", before(SHOWN), 1, 1),
    Step("recovery: before the push", after(INTENT), 0, 0, then=before(PUSH)),
    Step("recovery: pushed, no request", before(REQUEST), 1, 0, then=before(REQUEST)),
    Step("recovery: request found, not on file", before(OPENED), 1, 1, then=before(OPENED)),
)


class FixLife(Life):
    """A life whose bot has a model and a code host."""

    def press(self) -> None:
        """Click Open draft PR as soon as it is offered."""

        def offered() -> Any:
            return next((card for card in self.cards() if find_element(card, ids.OPEN_FIX)), None)

        card = self.control.wait_for(offered, "the button", channel=OPS.channel_id)
        element = find_element(card, ids.OPEN_FIX)
        assert element is not None
        self.control.click(OPS.channel_id, card["ts"], ANA.user_id, **element.click_fields())

    def fixes(self) -> list[Any]:
        return self.kept.documents("fixes")

    def is_done(self) -> bool:
        """Whether the card and the draft name the request."""
        shown = any(fix and fix["status"] == "open" and fix["is_shown"] for fix in self.fixes())
        return shown and any("Draft PR: http" in shown_text(card) for card in self.cards())


@pytest.fixture
def host(tmp_path: Path) -> Iterator[CodeHost]:
    with CodeHost(tmp_path / "host") as host:
        host.publish(make_repo(tmp_path / "shop", SHOP))
        yield host


@pytest.fixture
def life(
    slack: LocalSlack, control: Control, tmp_path: Path, host: CodeHost, database: str | None
) -> Iterator[FixLife]:
    """A fresh home, behind the proxy."""
    settings = {"code_host": "github", "fixes": {"check": CHECK}}
    config = write_config(tmp_path / "home", tmp_path / "shop", **settings)
    script = load_script(script_of(DIFF, tmp_path / "script.yml"))
    with withholding_proxy(slack.api_url) as proxy, ModelServer(script) as models:
        variables = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": models.url, "TRIAGE_GITHUB_TOKEN": TOKEN}
        life = FixLife(slack, control, proxy, config, environment=variables, database=database)
        yield life
        life.close()


@pytest.mark.parametrize(("engine", "step"), met(STEPS) + met(STEPS, engine="postgres"))
def test_a_bot_killed_at_any_step_of_a_fix_opens_one_request(
    life: FixLife, host: CodeHost, engine: str, step: Step, record_property: Any
) -> None:
    """The next start goes on by itself; only a click that nobody wrote down has to be made again."""
    record_property("crash_step", f"{engine}, fix: {step.name}")
    life.start(step.kill)
    life.ask(QUESTION)
    if step.lost:
        host.faults = [Fault(pattern="POST .*/pulls", status=0, takes_effect=True)]
    life.press()
    if step.kill is None:
        life.control.wait_for(lambda: host.pulls, "the request")
        life.bury()
    else:
        life.dies(step.name, decision="none")
    assert (len(host.branches()), len(host.pulls)) == (step.branches, step.pulls)
    if step.then is not None:
        life.start(step.then)
        life.dies(f"{step.name}, again", decision="none")
    life.start()
    if not life.fixes():
        life.press()
    life.control.wait_for(life.is_done, "the draft pull request on card and draft", channel=OPS.channel_id)
    life.stop()
    assert (len(host.branches()), len(host.pulls)) == (1, 1)
    assert life.left()["corrupt"] == []
    assert not (life.home / "workshop").exists()
    assert git(life.home.parent / "shop", "status", "--porcelain") == ""
