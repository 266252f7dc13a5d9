"""Show evidence: a dialogue that opens at once and empty, then says what the citations stand on.

A trigger expires after 3 s, while permission is two requests and a citation some 30 ms of git (docs/decisions/
evidence-dialogue.md). So nothing precedes the opening, and nothing of the draft is in it before permission is certain.
"""

from __future__ import annotations

import logging
from typing import Any

from slack_sdk import WebClient
from slack_sdk.models.views import View

from blocks.draft_card import LinkTo
from blocks.evidence_modal import MAX_CITATIONS, evidence_modal, looking_up, refusal
from bot.casework.evidence import EvidenceReader
from bot.errors import ProviderError
from bot.ports import ThreadStore
from handlers.transport import translated

log = logging.getLogger(__name__)

GONE = "This thread is not on file any more."


class EvidenceDialogue:
    """Opens the dialogue and fills it."""

    def __init__(self, store: ThreadStore, reader: EvidenceReader, link_to: LinkTo) -> None:
        self._store, self._reader, self._link_to = store, reader, link_to

    def open(self, client: WebClient, trigger_id: str) -> str:
        """Open the dialogue, still empty, and return its id; raises ProviderError."""
        with translated("open the evidence"):
            answer: Any = client.views_open(trigger_id=trigger_id, view=looking_up())
        return str(answer["view"]["id"])

    def fill(self, client: WebClient, view_id: str, thread_id: str) -> None:
        """Show the citations of a thread, open or closed."""
        state = self._store.get(thread_id) or self._store.last_closed(thread_id)
        if state is None:
            self.refuse(client, view_id, GONE)
            return
        found = self._reader.citations(state, at_most=MAX_CITATIONS)
        ret = state.investigator_return
        view = evidence_modal(
            thread_id,
            found,
            self._link_to,
            left_out=(len(ret.evidence_refs) if ret else 0) - len(found),
            patch=ret.proposed_patch if ret else None,
            known_secrets=self._reader.known_secrets,
        )
        self._update(client, view_id, view)

    def refuse(self, client: WebClient, view_id: str, why: str) -> None:
        """Say why there is nothing to see."""
        self._update(client, view_id, refusal(why))

    def _update(self, client: WebClient, view_id: str, view: View) -> None:
        try:
            with translated("show the evidence"):
                client.views_update(view_id=view_id, view=view)
        except ProviderError:  # it was closed meanwhile, as a rule
            log.info("a dialogue was not filled", extra={"action": "dialogue_unfilled"}, exc_info=True)
