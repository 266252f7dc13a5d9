"""Every action, block and callback id, and the codec of button values.

A value comes back from the chat and is read as hostile: what does not decode is refused. It fits an overflow option
(150 characters).  Source: https://docs.slack.dev/reference/block-kit/composition-objects/option-object
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from bot.casework.decisions import DraftClick
from bot.casework.notes import NoteSource
from bot.domain.heartbeats.alerts import OpenFinding, finding_digest
from bot.domain.heartbeats.session_state import check_session_id
from bot.domain.sharing.suggestions import SUGGESTION_ID
from bot.domain.threads import ThreadState, check_thread_id, reply_id_of
from bot.errors import InputError

APPROVE: Final = "triage_approve"
EDIT: Final = "triage_edit"
USE_MINE: Final = "triage_use_mine"
USE_NEW: Final = "triage_use_new"
USE_THIS: Final = "triage_use_this"
DISMISS: Final = "triage_dismiss"
ANSWER_TOO: Final = "triage_answer_too"
NOT_SAME: Final = "triage_not_same"
SAME_AS: Final = "triage_same_as"
REINVESTIGATE: Final = "triage_reinvestigate"
ADD_CONTEXT: Final = "triage_add_context"
ESCALATE: Final = "triage_escalate"
SHOW_EVIDENCE: Final = "triage_show_evidence"
SAVE_NOTE: Final = "triage_save_note"
MORE: Final = "triage_more"
VIEW_DIFF: Final = "triage_view_diff"
OPEN_FIX: Final = "triage_open_fix"
REMEMBER: Final = "triage_remember"
HELPFUL: Final = "triage_helpful"
NOT_HELPFUL: Final = "triage_not_helpful"
TAKE_BACK: Final = "triage_take_back"

ACKNOWLEDGE: Final = "triage_acknowledge"
SNOOZE: Final = "triage_snooze"
FIXED: Final = "triage_fixed"
INVESTIGATE: Final = "triage_investigate"
RUN_NOW: Final = "triage_run_now"
RUN_SESSION: Final = "triage_run_session"
"""The button of a session on App Home."""

OPEN_PLAYBOOK: Final = "triage_open_playbook"

TRIAGE_THIS: Final = "triage_this"
REMEMBER_THIS: Final = "remember_this"
"""The message shortcuts of manifest.yml."""

ACCEPT_SUGGESTION: Final = "triage_accept_suggestion"
REJECT_SUGGESTION: Final = "triage_reject_suggestion"

EDIT_VIEW: Final = "triage_edit_view"
DISMISS_VIEW: Final = "triage_dismiss_view"
CONTEXT_VIEW: Final = "triage_context_view"
SAME_AS_VIEW: Final = "triage_same_as_view"
REMEMBER_VIEW: Final = "triage_remember_view"
SAVE_NOTE_VIEW: Final = "triage_save_note_view"
REJECT_VIEW: Final = "triage_reject_view"

# Of features that were removed: they stand on old messages (handlers/buttons/removed_buttons.py).
PROPOSE_FIX: Final = "triage_propose_fix"
EDIT_TIER: Final = "triage_edit_tier"
"""Followed by `:<tier>`."""

ACCEPT_PROPOSAL: Final = "triage_accept_proposal"
REJECT_PROPOSAL: Final = "triage_reject_proposal"
CHOOSE_SESSION: Final = "triage_choose_session"
TIER_VIEW: Final = "triage_tier_view"
STILL_TRUE: Final = "triage_still_true"
RETIRE: Final = "triage_retire"
READ_SUGGESTION: Final = "triage_read_suggestion"
READ_VIEW: Final = "triage_read_view"

REPLY: Final = "reply"
ONLY_SAVE: Final = "only_save"
REASON: Final = "reason"
CONTEXT: Final = "context"
OTHER: Final = "other"
NOTE: Final = "lesson"
INPUT: Final = "value"

MAX_SEEN: Final = 999
_ALERT = "triage_alert:"
_FROM_HOME = "|home"
_DIGEST = re.compile(r"[0-9a-f]{16}")
_MESSAGE = re.compile(r"team\.[\w.-]{0,100}\|([A-Z0-9]{1,40})\|([0-9]{1,20}\.[0-9]{1,20})")
_VERSION_AND_HASH = re.compile(r"([0-9]{1,6})\|([0-9a-f]{16}|)\|([0-9]{1,3})(?:\|t([0-9]{1,5}))?")


def _foreign() -> InputError:
    return InputError("This button is from another version of triage; nothing was changed.")


def _own(value: object, pattern: re.Pattern[str]) -> str:
    """Return an id that has the form of ours; raises InputError for any other."""
    if not pattern.fullmatch(str(value)):
        raise _foreign()
    return str(value)


def card_block_id(thread_id: str) -> str:
    """Return the block id that marks the card of a thread in the ops channel."""
    return f"triage_card:{thread_id}"


def reply_block_id(thread_id: str, draft_hash: str, number: int) -> str:
    """Return the block id that marks one of several messages of a reply in the asker's thread, but for the last."""
    return f"triage_reply_part:{thread_id}:{draft_hash}:{number}"


def preview_block_id(thread_id: str, version: int, number: int) -> str:
    """Return the block id that marks one message of a draft in the thread of its card."""
    return f"triage_draft:{thread_id}:{version}:{number}"


def page_block_id(state: ThreadState, ring: int | None) -> str:
    """Return the block id that marks a ring of a question that pages, by its number; None: its escalation."""
    again = f"-{state.paging.times_raised}" if state.paging.times_raised else ""
    return f"triage_page:{reply_id_of(state)}:{'then' if ring is None else ring}{again}"


def encode_click(click: DraftClick) -> str:
    """Return a button value that binds a click to one draft.

    >>> encode_click(DraftClick(thread_id="T1.C1.1.2", version=3, draft_hash="00112233aabbccdd", seen=1))
    'T1.C1.1.2|3|00112233aabbccdd|1'
    """
    twins = f"|t{click.twins}" if click.twins else ""
    return f"{click.thread_id}|{click.version}|{click.draft_hash}|{click.seen}{twins}"


def decode_click(value: object) -> DraftClick:
    """Return the click a button value stands for.

    Raises:
        InputError: the value was not made by `encode_click`.
    """
    thread_id, _, rest = str(value).partition("|")
    match = _VERSION_AND_HASH.fullmatch(rest)
    if match is None:
        raise _foreign()
    return DraftClick(
        thread_id=check_thread_id(thread_id),
        version=int(match[1]),
        draft_hash=match[2],
        seen=int(match[3]),
        twins=int(match[4] or 0),
    )


def encode_dialogue(click: DraftClick, *, from_home: bool) -> str:
    """Return the private metadata of a dialogue: the click that opened it, and whether that was on App Home.

    >>> encode_dialogue(DraftClick(thread_id="T1.C1.1.2", version=3, draft_hash="", seen=0), from_home=True)
    'T1.C1.1.2|3||0|home'
    """
    return encode_click(click) + (_FROM_HOME if from_home else "")


def decode_dialogue(value: object) -> DraftClick:
    """Return the click that opened a dialogue; raises InputError as `decode_click` does."""
    return decode_click(str(value).removesuffix(_FROM_HOME))


def team_value(team: str) -> str:
    """Return how a value names a team; no thread, session or suggestion is called so."""
    return f"team.{team}"


def encode_message(team: str, chat_id: str, message_id: str) -> str:
    """Return the value of a team's dialogue about a message."""
    return f"{team_value(team)}|{chat_id}|{message_id}"


def decode_note(value: object) -> NoteSource:
    """Return what a note is made from; raises InputError as `decode_click` does.

    >>> decode_note("team.pay|C1|1.2"), decode_note("T1.C1.1.2|3||0|home").thread_id
    (NoteSource(thread_id=None, chat_id='C1', message_id='1.2'), 'T1.C1.1.2')
    """
    if (match := _MESSAGE.fullmatch(str(value))) is not None:
        return NoteSource(chat_id=match[1], message_id=match[2])
    return NoteSource(thread_id=decode_dialogue(value).thread_id)


def is_from_home(body: Mapping[str, object]) -> bool:
    """Whether a click or submit comes from App Home: from the page itself, or from a dialogue that was opened there.

    Slack sends the page as the view of a click; whoever sends no view has at least no channel to name.
    """
    view, channel = body.get("view"), body.get("channel")
    if isinstance(view, Mapping):
        return view.get("type") == "home" or str(view.get("private_metadata")).endswith(_FROM_HOME)
    return not (isinstance(channel, Mapping) and channel.get("id"))


def clicked_thread(body: Mapping[str, Any]) -> str | None:
    """Return the thread that a click on a draft or a submit of its dialogue is about; None where it names none."""
    view, actions = body.get("view"), body.get("actions")
    action = actions[0] if isinstance(actions, list) and actions and isinstance(actions[0], Mapping) else {}
    option = action.get("selected_option")
    try:
        if isinstance(option, Mapping):
            return decode_click(split_option(option.get("value"))[1]).thread_id
        if action:
            return decode_click(action.get("value")).thread_id
        return decode_dialogue(view.get("private_metadata")).thread_id if isinstance(view, Mapping) else None
    except InputError:
        return None


def encode_patch(thread_id: str, patch_hash: str) -> str:
    """Return a button value that names a patch of a thread by its hash."""
    return f"{thread_id}|{patch_hash}"


def decode_patch(value: object) -> tuple[str, str]:
    """Return `(thread id, hash)` of a button about a patch; raises InputError as `decode_click` does."""
    thread_id, _, patch_hash = str(value).partition("|")
    patch_hash = _own(patch_hash, _DIGEST)
    return check_thread_id(thread_id), patch_hash


def session_block_id(session_id: str) -> str:
    """Return the block id of a session on App Home."""
    return f"triage_session:{session_id}"


def encode_option(action: str, click: DraftClick) -> str:
    """Return an overflow option's value: which action, for which draft."""
    return f"{action}!{encode_click(click)}"


def split_option(value: object) -> tuple[str, str]:
    """Return `(action, button value)` of an overflow option; neither is checked.

    >>> split_option("triage_escalate!T1.C1.1.2|3||0")
    ('triage_escalate', 'T1.C1.1.2|3||0')
    """
    action, _, rest = str(value).partition("!")
    return action, rest


def alert_block_id(session_id: str, finding: OpenFinding) -> str:
    """Return the block id that marks the alert of a finding since it was first seen."""
    return f"{_ALERT}{session_id}:{finding_digest(finding.key)}:{int(finding.first_at.timestamp() * 1000)}"


def alert_list_block_id(session_id: str, listed: Sequence[OpenFinding]) -> str:
    """Return the block id that marks a list of findings: of these, since they were first seen and last sent."""
    one_by_one = sorted(f"{each.key} {each.first_at.isoformat()} {each.sent_at}" for each in listed)
    return f"{_ALERT}{session_id}:list:{finding_digest(chr(10).join(one_by_one))}"


def alert_closing_block_id(session_id: str, closed: Sequence[OpenFinding]) -> str:
    """Return the block id that marks the line which says that findings ended: these, once for each time they began."""
    one_by_one = sorted(f"{each.key} {each.first_at.isoformat()} {each.last_at.isoformat()}" for each in closed)
    return f"{_ALERT}{session_id}:closed:{finding_digest(chr(10).join(one_by_one))}"


def asked_block_id(name: str) -> str:
    """Return the block id that marks a question which a button or a command asked."""
    return f"triage_asked:{name}"


def asked_about_block_id(session_id: str, finding: OpenFinding) -> str:
    """Return the block id that marks the question about a finding since it was first seen."""
    return asked_block_id(f"{session_id}:{finding_digest(finding.key)}:{int(finding.first_at.timestamp() * 1000)}")


def encode_finding(session_id: str, digest: str) -> str:
    """Return a button value that names a finding of a session."""
    return f"{session_id}|{digest}"


def decode_finding(value: object) -> tuple[str, str]:
    """Return `(session id, digest)` of a button; raises InputError as `decode_click` does."""
    session_id, _, digest = str(value).partition("|")
    digest = _own(digest, _DIGEST)
    return check_session_id(session_id), digest


def decode_snooze(value: object) -> tuple[str, str, str]:
    """Return `(for how long, session id, digest)` of a snooze; raises InputError as `decode_click` does."""
    words, _, rest = str(value).partition("!")
    return (words, *decode_finding(rest))


def audit_block_id(reply_id: str) -> str:
    """Return the block id that marks the audit card of an automatic reply."""
    return f"triage_audit:{reply_id}"


def decode_auto_reply(value: object) -> str:
    """Return the automatic reply's id that a button carries; raises InputError as `decode_click` does."""
    return _own(value, _DIGEST)


def encode_feedback(state: ThreadState) -> str:
    """Return a button value that names the reply to a question."""
    return f"{state.thread_id}|{reply_id_of(state)}"


def decode_feedback(value: object) -> tuple[str, str]:
    """Return `(thread id, reply id)` of a button under a reply; raises InputError as `decode_click` does."""
    return decode_patch(value)


def feedback_block_id(reply_id: str) -> str:
    """Return the block id that marks what approvers are told of a reply that did not help."""
    return f"triage_feedback:{reply_id}"


def suggestion_block_id(suggestion_id: str) -> str:
    """Return the block id that marks the card of a suggestion."""
    return f"triage_suggestion:{suggestion_id}"


def decode_suggestion(value: object) -> str:
    """Return the suggestion's id that a button or a dialogue carries; raises InputError as `decode_click` does."""
    return _own(value, SUGGESTION_ID)
