"""The buttons of a proposed patch: its diff in a dialogue, and the draft pull request.

The dialogue opens empty and is filled once permission is certain, as that of the evidence is
(docs/decisions/slack-views.md). What a click wants is written down and carried out elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from slack_sdk.models.views import View

from blocks import ids
from blocks.cards.fix_view import diff_fits, diff_modal, loading_diff
from bot.casework.approvers import Approvers
from bot.casework.fixes.fix_service import Fixes
from bot.errors import ProviderError
from handlers.buttons.decision_handler import DecisionHandler, Listener, Say
from handlers.buttons.draft_buttons import NOT_YOURS
from handlers.clicks import Click

BELOW = "The diff is too long for this window: it is whole, as a file, in the card's thread."
NOT_BELOW = "The diff is too long for this window, and Slack did not take it as a file now. Try again in a minute."


class FixButtons:
    """The listeners of a patch's buttons."""

    def __init__(self, fixes: Fixes, approvers: Approvers, *, say: Say, known_secrets: Collection[str]) -> None:
        self._fixes, self._known_secrets = fixes, known_secrets
        self._on = on = DecisionHandler(approvers, say, read=ids.THREAD_PART.decode, refusal=NOT_YOURS)
        self.views: Mapping[str, Listener] = {}
        self.actions: Mapping[str, Listener] = {
            ids.VIEW_DIFF: on.opens(lambda *_: loading_diff(), fill=self._diff),
            ids.OPEN_FIX: on.decides(self._open),
        }

    def _open(self, click: Click, one: ids.ThreadPart) -> str:
        """Have a draft pull request opened."""
        return self._fixes.open(one.thread_id, one.digest, by=click.user, team=click.team, name=click.name)

    def _diff(self, _: Click, one: ids.ThreadPart) -> View:
        """Show the diff, or where the whole of it stands."""
        state, patch = self._fixes.proposed(one.thread_id, one.digest)
        if diff_fits(patch):
            return diff_modal(patch, self._known_secrets)
        try:
            self._fixes.show_whole(state, patch)
        except ProviderError:
            return diff_modal(patch, self._known_secrets, remark=NOT_BELOW)
        return diff_modal(patch, self._known_secrets, remark=BELOW)
