"""The main job, done by people without a screen: ask, find the card, click Approve, read the reply.

Nobody here overrules a validator: a card that says "disagreement" is shown and left alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from blocks import ids
from bot.adapters.storage.files.atomic_write import read_json
from bot.adapters.storage.files.ndjson_journal import NdjsonJournal
from bot.errors import ProviderError
from demo.control import Control, Json
from demo.headless import Element, Transcript, find_element, find_replies, shown_text
from demo.workspace import ANA, CHLOE, DEMO, HELP, OPS

CARD_LIMIT_S = 120.0
MODEL_CARD_LIMIT_S = 1_500.0
"""Two rounds of an investigator and a validator at their hard caps, and some patience."""
REPLY_LIMIT_S = 120.0


class Journey:
    """Chloe asks in #help; Ana, who may, approves in #triage-ops."""

    def __init__(
        self,
        control: Control,
        home: Path,
        *,
        quiet: bool = False,
        card_limit_s: float = CARD_LIMIT_S,
    ) -> None:
        self._control, self._home, self._card_limit_s = control, home, card_limit_s
        self._replies = NdjsonJournal(home / "replies.ndjson")
        self.transcript = Transcript(out=None) if quiet else Transcript()

    def approve(self, question: str) -> dict[str, Any]:
        """Ask and approve; returns the facts of `triage demo --json`, `ok` False where no reply came of it."""
        asked_s = self.transcript.note(f"{CHLOE.name} asks in #{HELP.name}: {question[:100]}")
        thread_ts = self._control.say(HELP.channel_id, CHLOE.user_id, question)
        thread_id = f"{DEMO.team_id}.{HELP.channel_id}.{thread_ts}"
        facts: dict[str, Any] = {"ok": False, "question": question, "thread_id": thread_id}
        try:
            card, button = self._wait_for_draft(thread_id)
            facts["card_s"] = self._since(asked_s, f"a draft waits in #{OPS.name}: {_badge(card)}")
            if button.asks_first:
                return {**facts, **self._objected(card, thread_id)}
            self._control.click(OPS.channel_id, card["ts"], ANA.user_id, **button.click_fields())
            self.transcript.note(f"{ANA.name} clicks Approve")
            reply, record = self._wait_for_reply(thread_ts, thread_id)
            facts["reply_s"] = self._since(asked_s, "the reply is in the thread and in replies.ndjson")
        except ProviderError as error:
            self.transcript.note(f"stopped: {error}")
            return {**facts, **self._facts_of_thread(thread_id), "error": str(error)}
        return {**facts, **_facts_of(record, self._home), "posted_text": reply["text"], "ok": True}

    def _objected(self, card: Json, thread_id: str) -> dict[str, Any]:
        """Return the facts of a draft that did not pass: it is for a human to overrule that, and none is here."""
        self.transcript.note(f"the draft did not pass, so nobody approves it: {shown_text(card)}")
        why = "the validator objects to the draft; a human would have to approve it all the same"
        return {**self._facts_of_thread(thread_id), "card_text": shown_text(card), "error": why}

    def _facts_of_thread(self, thread_id: str) -> dict[str, Any]:
        """Return what the open thread's state says, as far as it got."""
        path = self._home / "state" / f"{thread_id}.json"
        state = (read_json(path) if path.is_file() else None) or {}
        ret, verdict = state.get("investigator_return") or {}, state.get("validator_return") or {}
        return {
            "investigator": _investigator_of(self._home, state.get("investigator_task_id")),
            "verdict": verdict.get("verdict", "none"),
            "rounds": state.get("investigator_round", 0),
            "draft": ret.get("draft_reply"),
            "evidence_refs": ret.get("evidence_refs", []),
            "posted_text": None,
            "heartbeat": None,
        }

    def _wait_for_draft(self, thread_id: str) -> tuple[Json, Element]:
        """Return the card and its Approve button; raises ProviderError if the bot gives up instead."""
        marker = ids.card_block_id(thread_id)

        def decided() -> tuple[Json, Element | None] | None:
            messages = self._control.messages(OPS.channel_id)
            card = next(
                (m for m in messages for block in m.get("blocks") or [] if block.get("block_id") == marker), None
            )
            if card is None or find_element(card, ids.EDIT) is None:
                return None
            return card, find_element(card, ids.APPROVE)

        card, button = self._control.wait_for(
            decided, "the draft's card", timeout_s=self._card_limit_s, channel=OPS.channel_id
        )
        if button is None:
            said = shown_text(card)
            raise ProviderError(f"the bot has no draft; ask about a name in the code with --question. The card: {said}")
        return card, button

    def _wait_for_reply(self, thread_ts: str, thread_id: str) -> tuple[Json, Json]:
        def posted() -> tuple[Json, Json] | None:
            replies = find_replies(self._control.messages(HELP.channel_id), thread_ts, DEMO.bot_id)
            records = [r for r in self._replies.records() if r.get("thread_id") == thread_id]
            return (replies[0], records[0]) if replies and records else None

        return self._control.wait_for(
            posted, "the reply and its record", timeout_s=REPLY_LIMIT_S, channel=HELP.channel_id
        )

    def _since(self, start_s: float, what: str) -> float:
        return round(self.transcript.note(what) - start_s, 2)


def _badge(card: Json) -> str:
    """Return the card's status line, its second block, as plain words."""
    return shown_text({"blocks": card["blocks"][1:2]}).replace("*", "")


def _facts_of(record: Json, home: Path) -> dict[str, Any]:
    """Return what the reply's record says, in the words of `triage demo --json`."""
    return {
        "investigator": _investigator_of(home, record["investigator_task_id"]),
        "verdict": record["validator_verdict"],
        "rounds": record["investigator_rounds"],
        "draft": record["draft_text"] or record["reply_text"],
        "evidence_refs": record["evidence_refs"],
        "heartbeat": None,
    }


def _investigator_of(home: Path, run_id: str | None) -> str | None:
    """Return who made the draft of a run: a model's id, or `offline`; None where no run came to a draft."""
    path = home / "runs" / (run_id or "none") / "trace.json"
    return (read_json(path) or {}).get("investigator") if path.is_file() else None
