"""Every action, block and callback id, and the one codec of what buttons, options and dialogues carry.

A value comes back from the chat and is read as hostile: only the one that we write is read. It fits an overflow option
(150 characters).  Source: https://docs.slack.dev/reference/block-kit/composition-objects/option-object
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar, get_type_hints

from bot.casework.clicks import DraftClick
from bot.domain.heartbeats.alerts import OpenFinding, finding_digest
from bot.domain.heartbeats.session_state import SESSION_ID
from bot.domain.notes import NoteSource
from bot.domain.suggestions import SUGGESTION_ID
from bot.domain.threads import PROOF_MARK, THREAD_ID, ThreadState, reply_id_of
from bot.errors import InputError

APPROVE: Final = "triage_approve"
EDIT: Final = "triage_edit"
USE_MINE: Final = "triage_use_mine"
USE_NEW: Final = "triage_use_new"
USE_THIS: Final = "triage_use_this"
DISMISS: Final = "triage_dismiss"
STOP: Final = "triage_stop"
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
SHOW_PROOF: Final = "triage_show_proof"
HELPFUL: Final = "triage_helpful"
NOT_HELPFUL: Final = "triage_not_helpful"
TAKE_BACK: Final = "triage_take_back"
TURN_AUTONOMY: Final = "triage_turn_autonomy"
"""The switch of automatic replies on App Home."""

ACKNOWLEDGE: Final = "triage_acknowledge"
SNOOZE: Final = "triage_snooze"
FIXED: Final = "triage_fixed"
INVESTIGATE: Final = "triage_investigate"
RUN_NOW: Final = "triage_run_now"
RUN_SESSION: Final = "triage_run_session"
"""The button of a session on App Home."""

OPEN_PLAYBOOK: Final = "triage_open_playbook"

HAVE_IT: Final = "triage_have_it"
HAND_TO: Final = "triage_hand_to"
HAND_VIEW: Final = "triage_hand_view"
PERSON: Final = "person"

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
Value = TypeVar("Value")

_PART: Final = re.compile(r"(\[?)([^\[\]{}]*)\{(\w+)\}([^\[\]{}]*)\]?")


def _foreign() -> InputError:
    """Return what whoever clicked is told of a value that is none of ours."""
    return InputError("This button is from another version of triage; nothing was changed.")


class Codec(Generic[Value]):
    """Writes the values of one kind.

    Args:
        kind: A dataclass of `str` and `int` fields.
        template: Its fields in braces, with the text around them. What stands in brackets is left out where its field
            is empty or 0, which is the field's default.
        forms: The pattern of each field; linear, for what it reads comes from outside.

    >>> from dataclasses import make_dataclass
    >>> Point = make_dataclass("Point", [("x", int), ("y", int), ("name", str, "")])
    >>> points = Codec(Point, "{x}|{y}[|{name}]", {"x": "[0-9]", "y": "[0-9]", "name": "[a-z]{1,9}"})
    >>> points.encode(Point(1, 2)), points.decode("1|2|here")
    ('1|2', Point(x=1, y=2, name='here'))
    """

    def __init__(self, kind: type[Value], template: str, forms: Mapping[str, str]) -> None:
        self._kind, self._types = kind, get_type_hints(kind)
        self._parts: list[tuple[str, str, str, str]] = _PART.findall(template)
        pattern = ""
        for bracket, before, name, after in self._parts:
            part = f"{re.escape(before)}(?P<{name}>{forms[name]}){re.escape(after)}"
            pattern += f"(?:{part})?" if bracket else part
        self._pattern = re.compile(pattern)

    def encode(self, value: Value) -> str:
        """Return the string that stands for a value."""
        fields = [(bracket, before, getattr(value, name), after) for bracket, before, name, after in self._parts]
        return "".join(f"{before}{said}{after}" for bracket, before, said, after in fields if said or not bracket)

    def decode(self, text: object) -> Value:
        """Return the value that a string stands for.

        Raises:
            InputError: it was not made by `encode`.
        """
        match = self._pattern.fullmatch(str(text))
        if match is None:
            raise _foreign()
        found = {name: said for name, said in match.groupdict().items() if said is not None}
        value = self._kind(**{name: int(said) if self._types[name] is int else said for name, said in found.items()})
        if self.encode(value) != text:
            raise _foreign()
        return value


_FORMS: Final = {
    "thread_id": THREAD_ID.pattern,
    "version": "[0-9]{1,6}",
    "draft_hash": "(?:[0-9a-f]{16})?",
    "seen": "[0-9]{1,3}",
    "twins": "[0-9]{1,5}",
    "digest": _DIGEST.pattern,
    "session_id": SESSION_ID.pattern,
    "snooze": "[^!]{1,40}",
    "team": r"[\w.-]{0,100}",
    "chat_id": "[A-Z0-9]{1,40}",
    "message_id": r"[0-9]{1,20}\.[0-9]{1,20}",
    "to": "off|shadow|on",
}


@dataclass(frozen=True, slots=True)
class ThreadPart:
    """Something of a thread, by its hash: the patch of its draft, or its reply."""

    thread_id: str
    digest: str


@dataclass(frozen=True, slots=True)
class FindingValue:
    """A finding of a session; `snooze` is for how long it is to be silent, in the words of the menu."""

    session_id: str
    digest: str
    snooze: str = ""


@dataclass(frozen=True, slots=True)
class MessageValue:
    """A message that a team's dialogue is about."""

    team: str
    chat_id: str
    message_id: str


@dataclass(frozen=True, slots=True)
class SwitchValue:
    """How a team's switch of automatic replies is to stand."""

    team: str
    to: str


CLICK: Final = Codec(DraftClick, "{thread_id}|{version}|{draft_hash}|{seen}[|t{twins}]", _FORMS)
THREAD_PART: Final = Codec(ThreadPart, "{thread_id}|{digest}", _FORMS)
FINDING: Final = Codec(FindingValue, "[{snooze}!]{session_id}|{digest}", _FORMS)
SWITCH: Final = Codec(SwitchValue, "team.{team}|{to}", _FORMS)
MESSAGE: Final = Codec(MessageValue, "team.{team}|{chat_id}|{message_id}", _FORMS)


def card_block_id(thread_id: str) -> str:
    """Return the block id that marks the card of a thread in the ops channel."""
    return f"triage_card:{thread_id}"


def reply_block_id(thread_id: str, draft_hash: str, number: int) -> str:
    """Return the block id that marks one of several messages of a reply in the asker's thread, but for the last."""
    return f"triage_reply_part:{thread_id}:{draft_hash}:{number}"


def proof_block_id(reply_id: str) -> str:
    """Return the block id of the line under a reply, which is none of its words."""
    return PROOF_MARK + reply_id


def told_block_id(about: str) -> str:
    """Return the block id of a line in direct messages: about a reply, who reads the draft first."""
    return f"triage_told:{about}"


def preview_block_id(thread_id: str, version: int, number: int) -> str:
    """Return the block id that marks one message of a draft in the thread of its card."""
    return f"triage_draft:{thread_id}:{version}:{number}"


def page_block_id(state: ThreadState, ring: int | None) -> str:
    """Return the block id that marks a ring of a question that pages, by its number; None: its escalation."""
    again = f"-{state.paging.times_raised}" if state.paging.times_raised else ""
    return f"triage_page:{reply_id_of(state)}:{'then' if ring is None else ring}{again}"


def hand_over_block_id(state: ThreadState) -> str:
    """Return the block id that marks what the assignee of a thread is told, once for each time it is handed over."""
    given = f"{state.assignee} {state.handed.at.isoformat() if state.handed else ''}"
    return f"triage_handed:{reply_id_of(state)}:{finding_digest(given)}"


def encode_dialogue(click: DraftClick, *, from_home: bool) -> str:
    """Return the private metadata of a dialogue: the click that opened it, and whether that was on App Home.

    >>> encode_dialogue(DraftClick(thread_id="T1.C1.1.2", version=3, draft_hash="", seen=0), from_home=True)
    'T1.C1.1.2|3||0|home'
    """
    return CLICK.encode(click) + (_FROM_HOME if from_home else "")


def decode_dialogue(value: object) -> DraftClick:
    """Return the click that opened a dialogue, or that a button stands for; raises InputError for any other value."""
    return CLICK.decode(str(value).removesuffix(_FROM_HOME))


def team_value(team: str) -> str:
    """Return how a value names a team; no thread, session or suggestion is called so."""
    return f"team.{team}"


def decode_note(value: object) -> NoteSource:
    """Return what a note is made from; raises InputError as `decode_dialogue` does.

    >>> decode_note("team.pay|C1|1.2"), decode_note("T1.C1.1.2|3||0|home").thread_id
    (NoteSource(thread_id=None, chat_id='C1', message_id='1.2'), 'T1.C1.1.2')
    """
    try:
        message = MESSAGE.decode(value)
    except InputError:
        return NoteSource(thread_id=decode_dialogue(value).thread_id)
    return NoteSource(chat_id=message.chat_id, message_id=message.message_id)


def is_from_home(body: Mapping[str, object]) -> bool:
    """Whether a click or submit comes from App Home: from the page itself, or from a dialogue that was opened there.

    Slack sends the page as the view of a click; whoever sends no view has at least no channel to name.
    """
    view, channel = body.get("view"), body.get("channel")
    if isinstance(view, Mapping):
        return view.get("type") == "home" or str(view.get("private_metadata")).endswith(_FROM_HOME)
    return not (isinstance(channel, Mapping) and channel.get("id"))


def clicked_thread(value: object) -> str | None:
    """Return the thread that a button, an option or a dialogue of a draft is about; None where it names none."""
    try:
        return decode_dialogue(split_option(value)[1] or value).thread_id
    except InputError:
        return None


def session_block_id(session_id: str) -> str:
    """Return the block id of a session on App Home."""
    return f"triage_session:{session_id}"


def encode_option(action: str, click: DraftClick) -> str:
    """Return an overflow option's value: which action, for which draft."""
    return f"{action}!{CLICK.encode(click)}"


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


def audit_block_id(reply_id: str) -> str:
    """Return the block id that marks the audit card of an automatic reply."""
    return f"triage_audit:{reply_id}"


def decode_auto_reply(value: object) -> str:
    """Return the automatic reply's id that a button carries; raises InputError for any other value."""
    return _own(value, _DIGEST)


def feedback_block_id(reply_id: str) -> str:
    """Return the block id that marks what approvers are told of a reply that did not help."""
    return f"triage_feedback:{reply_id}"


def suggestion_block_id(suggestion_id: str) -> str:
    """Return the block id that marks the card of a suggestion."""
    return f"triage_suggestion:{suggestion_id}"


def decode_suggestion(value: object) -> str:
    """Return the suggestion's id that a button or a dialogue carries; raises InputError for any other value."""
    return _own(value, SUGGESTION_ID)


def _own(value: object, form: re.Pattern[str]) -> str:
    if not form.fullmatch(str(value)):
        raise _foreign()
    return str(value)
