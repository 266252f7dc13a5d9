"""One thread's life with a bot that dies in it: what the people do, what a death left, how it must end."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any

from blocks import ids
from bot.errors import InputError, ProviderError
from demo.headless import find_element, find_replies
from demo.slack_server import LocalSlack
from demo.workspace import ANA, CHLOE, DEMO, HELP, OPS
from tests import fork_server
from tests.crashes.moments import Moment
from tests.crashes.proxy import WithholdingProxy
from tests.fork_server import ForkedProcess
from tests.hands import LIMIT_S, Control, Json, text_value
from tests.journeys.office import environment_of
from tests.kept import Kept

OWN_WORDS = "HMAC-SHA256, see `shop/sessions.py`."


class Life:
    """The people of the workspace, one question, and the process of the bot."""

    def __init__(
        self,
        slack: LocalSlack,
        control: Control,
        proxy: WithholdingProxy,
        config: Path,
        *,
        log: Path | None = None,
        environment: Mapping[str, str] | None = None,
        database: str | None = None,
    ) -> None:
        self.control, self.proxy, self.config, self.home = control, proxy, config, config.parent
        self.kept = Kept(self.home, database)
        self._env = {
            **os.environ,
            **environment_of(slack, self.home),
            "SLACK_API_URL": proxy.url,
            **({"TRIAGE_DATABASE_URL": database} if database else {}),
            **(environment or {}),
        }
        self._log = log or self.home.parent / "bot.log"
        self.process: ForkedProcess | None = None
        self.ts = ""

    def start(self, kill: Moment | None = None, withheld: str | None = None) -> None:
        """Start the bot, perhaps doomed; returns once it listens or is dead."""
        self.launch(kill, withheld)
        self.listen()

    def launch(self, kill: Moment | None = None, withheld: str | None = None) -> None:
        """Start the bot and return at once."""
        victim = ["tests.crashes.victim", kill.as_argument()] if kill else []
        argv = [*victim, "bot", "run", "--config", str(self.config)]
        with self._log.open("ab") as log:
            self.process = process = fork_server.start(*argv, env=self._env, stdout=log, stderr=log)
        if withheld is not None:
            self.proxy.withhold(withheld, lambda: self._execute(process))

    def listen(self) -> None:
        """Return once the bot listens, or is dead."""
        self.control.wait_for(lambda: self.is_dead or self.control.modals.is_bot_connected(), "the bot to connect")

    def start_again(self) -> None:
        """Kill the bot, whatever it is doing, and start it."""
        self.bury()
        self.start()

    def stop(self) -> None:
        """End the bot as an operator does: SIGTERM, exit code 0, everything under way finished."""
        assert self.process is not None
        self.process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(LIMIT_S)
        assert self.process.poll() == 0, f"no orderly end within {LIMIT_S:g} s\n{self.log[-4000:]}"

    def end(self) -> None:
        """Kill this bot; others of the same app may live on."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def close(self) -> None:
        """Make sure that nothing of the bot is left, and read no more of what it kept."""
        self.bury()
        self.kept.close()

    def bury(self) -> None:
        """Make sure that nothing of the bot is left, whatever happened."""
        self.end()
        if self.process is not None:
            self.control.wait_for(lambda: not self.control.modals.is_bot_connected(), "the bot's socket to close")

    @property
    def is_dead(self) -> bool:
        """Whether the bot's process has ended."""
        return self.process is None or self.process.poll() is not None

    @property
    def log(self) -> str:
        """What every process of this life wrote, its end."""
        return self._log.read_text(errors="replace")

    def ask(self, text: str, *, user: str = CHLOE.user_id) -> None:
        """Ask the question of this life."""
        self.ts = self.control.say(HELP.channel_id, user, text)

    def beside(self, text: str, *, user: str = CHLOE.user_id) -> Life:
        """Ask another question of the same bot; what is returned sees that one."""
        other = copy(self)
        other.ask(text, user=user)
        return other

    def told(self) -> list[str]:
        """Return what the bot told the approver alone."""
        messages = self.control.messages(OPS.channel_id)
        return [m["text"] for m in messages if m.get("ephemeral_to") == ANA.user_id]

    def carry_on(self, until: Callable[[], bool], what: str, *, decision: str) -> None:
        """Let the approver decide about each draft the card offers, and wait until `until` holds.

        Once; and again where the dead replica still holds the thread.
        """
        decided: set[tuple[str | None, int]] = set()

        def reached() -> bool:
            if until():
                return True
            card = None if decision == "none" else self.offer()
            button = find_element(card, ids.APPROVE) if card else None
            refused = sum(text.startswith("Somebody changed this thread") for text in self.told())
            if card and button and (button.value, refused) not in decided:
                decided.add((button.value, refused))
                with suppress(ProviderError, InputError):  # the bot may die under the approver's hands
                    self._decide(card, decision)
            return until()

        try:
            self.control.wait_for(reached, what, channel=OPS.channel_id)
        except ProviderError as error:
            raise AssertionError(f"{error}\n{self.left()}\n{self.log[-4000:]}") from error

    def dies(self, step: str, *, decision: str) -> None:
        """Go on until the bot is killed at a step."""
        self.carry_on(lambda: self.is_dead, f"the step {step!r}, which was never reached", decision=decision)
        assert self.process is not None
        assert self.process.returncode == -signal.SIGKILL, self.log[-4000:]

    def carry_on_to_the_end(self, *, decision: str) -> None:
        """Go on until the thread is settled and its asker told, stop the bot and check what it leaves."""
        self.carry_on(
            lambda: self.is_settled() and not self.kept.documents("acknowledgements"),
            "the thread to be settled, and its asker to be told",
            decision=decision,
        )
        self.stop()
        self.ended_well(decision)

    def ended_well(self, decision: str) -> None:
        """Check that there is one of everything, and nothing is left to do."""
        posted = 0 if decision == "dismiss" else 1
        left = self.left()
        assert (left["cards"], left["replies"], left["logged"], left["archived"]) == (1, posted, posted, 1)
        assert (left["events"], left["classified"], left["jobs"], left["corrupt"]) == (1, 1, 0, [])
        assert not self.kept.documents("threads")
        assert left["reactions"] == (["white_check_mark"] if posted else [])
        assert not self.kept.documents("acknowledgements")
        closed = self.archived()[0]
        resolution = {"approve": "approved", "edit": "edited", "dismiss": "dismissed"}[decision]
        assert (closed["resolution"], closed["rounds"][0]["round"], len(closed["rounds"])) == (resolution, 1, 1)
        if decision == "edit":
            assert self.replies()[0]["text"] == OWN_WORDS
        if posted:
            assert closed["posted_message_id"] == self.replies()[0]["ts"]

    def cards(self) -> list[Json]:
        """Return the thread's cards; there should be one."""
        marker = ids.card_block_id(self.thread_id)
        messages = self.control.messages(OPS.channel_id)
        return [m for m in messages if any(b.get("block_id") == marker for b in m.get("blocks") or [])]

    def offer(self) -> Json | None:
        """Return the first card that offers the draft for approval."""
        return next((card for card in self.cards() if find_element(card, ids.APPROVE)), None)

    def replies(self) -> list[Json]:
        """Return what the bot said in the thread."""
        return find_replies(self.control.messages(HELP.channel_id), self.ts, DEMO.bot_id)

    def archived(self) -> list[Json]:
        """Return the thread's states in the archive."""
        return self.kept.archived("threads", self.thread_id)

    def is_settled(self) -> bool:
        """Whether the thread is archived and nothing waits."""
        left = self.left()
        return bool(left["archived"]) and left["status"] is None and not left["jobs"] and not left["offered"]

    @property
    def thread_id(self) -> str:
        """The name of this life's thread on disk."""
        return f"{DEMO.team_id}.{HELP.channel_id}.{self.ts}"

    def left(self) -> dict[str, Any]:
        """Return what stands on disk and in Slack, in the words of `Step.left`."""
        state, count = self.kept.document("threads", self.thread_id), self.kept.count
        waiting, running = self.kept.jobs(""), self.kept.jobs("running")
        return {
            "events": count("events"),
            "classified": count("events-classified"),
            "logged": count("replies"),
            "waiting": waiting,
            "running": running,
            "jobs": waiting + running + self.kept.jobs("failed"),
            "status": state.get("status"),
            "rounds": len(state.get("rounds", ())),
            "version": state.get("draft_version"),
            "card_known": state.get("card_ts") is not None,
            "intent": state.get("post_intent") is not None,
            "posted_known": state.get("posted_message_id") is not None,
            "cards": len(self.cards()),
            "offered": self.offer() is not None,
            "replies": len(self.replies()),
            "reactions": self.control.reactions(HELP.channel_id, self.ts),
            "archived": len(self.archived()),
            "corrupt": self.kept.corrupt(),
        }

    def _decide(self, card: Json, decision: str) -> None:
        action = {"approve": ids.APPROVE, "dismiss": ids.DISMISS, "edit": ids.EDIT}[decision]
        element = find_element(card, action)
        assert element is not None
        self.control.click(OPS.channel_id, card["ts"], ANA.user_id, **element.click_fields())
        if decision == "approve":
            return
        self.control.wait_for(lambda: self.is_dead or self.control.modals.current(), "the dialogue")
        block, words = (ids.REPLY, OWN_WORDS) if decision == "edit" else (ids.REASON, "answered in person")
        self.control.modals.submit(ANA.user_id, {block: {ids.INPUT: text_value(words)}})

    def dies_without_the_answer(self, pattern: str) -> None:
        """Kill the bot once Slack has carried out such a call, before the bot hears of it."""
        process = self.process
        assert process is not None
        self.proxy.withhold(pattern, lambda: self._execute(process))

    def dies_with_a_call_under_way(self, pattern: str) -> None:
        """Kill the bot once such a call has left it; Slack sees the call when the proxy is told to release it."""
        process = self.process
        assert process is not None
        self.proxy.hold(pattern, lambda: self._execute(process))

    def _execute(self, process: ForkedProcess) -> None:
        process.send_signal(signal.SIGKILL)
        process.wait()
