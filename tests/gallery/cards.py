"""The card of a question in each of its states, on real thread states."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from slack_sdk.models.blocks import Block

from blocks.cards.draft_card import CardFacts, card_blocks
from blocks.cards.reply_cards import audit_blocks
from bot.domain.alerts import AlertState, ThreadAlert
from bot.domain.citations.links import code_links
from bot.domain.drafts import edit_draft, propose_draft
from bot.domain.fixes import Fix, FixMark, FixStatus, PullRequest
from bot.domain.questions.autonomy_record import AutoJudgement, AutonomyMode, AutoReply
from bot.domain.questions.rubrics import session_name
from bot.domain.returns import (
    CODE_CHECKS,
    Check,
    EvidenceKind,
    EvidenceRef,
    InvestigatorReturn,
    ProposedPatch,
    TriageFile,
    Usage,
    Verdict,
    quoting_claims,
)
from bot.domain.threads import PendingReason, Resolution, Round, ThreadState, ThreadStatus, Transition, Twin
from bot.domain.waits import Doubt, DoubtCode, alert_changed, question_edited, wrote_in_thread
from demo.workspace import ANA, BEN, CHLOE, DEMO, ENG, HELP, OPS
from tests.builders import NOW, a_return, a_thread, a_verdict
from tests.gallery.scene import Chapter, Scene

TS = "1795165200.000100"
THREAD_ID = f"{DEMO.team_id}.{HELP.channel_id}.{TS}"
QUESTION = "How long do we wait for the warehouse before an order fails, and why do pick lists get longer?"
DRAFT = (
    "We wait **2 s** to connect to the warehouse and **10 s** for its answer; then the order fails.\n\n"
    "Pick lists get **45 s**: they may take long on Mondays, and the warehouse asked for it "
    "(`config/warehouse.toml:3-7`)."
)
FILE = EvidenceRef(
    kind=EvidenceKind.FILE,
    ref="config/warehouse.toml:3-7",
    commit="4f1c2d9e7a" + "0" * 30,
    quote="connect = 2\nread = 10\n# A pick list may take long on Mondays; it was asked for.\npick_list = 45",
    supports_claim="The three timeouts, in seconds, and the reason.",
)
OLD = EvidenceRef(
    kind=EvidenceKind.FILE,
    ref="shop/retry.py:4-5",
    commit="4f1c2d9e7a" + "0" * 30,
    quote="# no longer used since the client has its own limits\nread_timeout = 30",
    supports_claim="Also close to the question.",
)
PATCH = ProposedPatch(
    title="Give pick lists a limit of their own",
    diff="--- a/config/warehouse.toml\n+++ b/config/warehouse.toml\n@@ -5,3 +5,3 @@\n read = 10\n-pick_list = 45\n"
    "+pick_list = 60  # Mondays take up to 52 s",
    rationale="Two of the 14 timeouts of this week were pick lists at 45 s.",
)
LOG = EvidenceRef(
    kind=EvidenceKind.LOG_QUERY,
    ref='service:orders "warehouse timed out" last 7 d',
    quote="14 results",
    supports_claim="Orders did fail for it this week.",
)
RETURN = a_return(
    DRAFT, evidence_refs=(FILE, LOG), confidence="high", confidence_reason="The file says so in so many words."
)
HOLDS = (
    Check(name="ref[0].resolves", ok=True, reason=""),
    Check(name="ref[1].resolves", ok=None, reason=""),
    Check(name="claim[0]", ok=True, reason=""),
    Check(name="claim[1]", ok=True, reason=""),
)
MODEL = "claude-opus-5-5"
COST = Usage(input_tokens=41_000, output_tokens=2_300, cost_usd=0.31)
OFFLINE = Usage()

_ENDED = NOW - timedelta(minutes=2)
_OVER = ThreadAlert(
    tool="grafana",
    state=AlertState.RESOLVED,
    name="Orders fail at the warehouse: 5 % over 10 minutes",
    fingerprint="grafana:orders",
    count=4,
    first_at=_ENDED - timedelta(minutes=18),
    last_at=_ENDED - timedelta(minutes=5),
    changed_at=_ENDED,
)


def thread(
    status: ThreadStatus = ThreadStatus.INVESTIGATING,
    why: str = "a question came in",
    *,
    by: str | None = None,
    **changes: Any,
) -> ThreadState:
    """Return Chloe's question in #help, in a status it got to at 09:00."""
    step = Transition(at=NOW, from_=ThreadStatus.INVESTIGATING, to=status, why=why, by=by)
    known: dict[str, Any] = {
        "thread_id": THREAD_ID,
        "team_id": DEMO.team_id,
        "chat_id": HELP.channel_id,
        "original_message_id": TS,
        "original_sender_id": CHLOE.user_id,
        "question": QUESTION,
        "permalink": f"https://acme.slack.com/archives/{HELP.channel_id}/p{TS.replace('.', '')}",
        "status": status,
        "status_history": (step,),
    }
    return a_thread(**{**known, **changes})


def drafted(
    reason: PendingReason | None = PendingReason.APPROVAL,
    *,
    ret: InvestigatorReturn = RETURN,
    verdict: Verdict = Verdict.PASS,
    judge: str = MODEL,
    reasons: tuple[str, ...] = (),
    note: str = "",
    checks: tuple[Check, ...] = HOLDS,
    earlier: tuple[Round, ...] = (),
    **changes: Any,
) -> ThreadState:
    """Return the thread with a draft that was judged."""
    number = len(earlier) + 1
    read = () if judge == CODE_CHECKS else ("config/warehouse.toml:1-9", "shop/client.py:20-48")
    judged = a_verdict(verdict, validator_model=judge, reasons=reasons, spot_check_note=note, read=read)
    rounds = (*earlier, Round(round=number, investigator_return=ret, checks=checks, validator_return=judged))
    known: dict[str, Any] = {
        "pending_reason": reason,
        "investigator_return": ret,
        "investigator_round": number,
        "validator_return": judged,
        "rounds": rounds,
        "usage": COST,
    }
    state = thread(ThreadStatus.PENDING_USER, "checked by a second model", **known)
    return (state.with_draft(ret.draft_reply) if ret.draft_reply else state).model_copy(update=changes)


def closed(resolution: Resolution, why: str, *, posted: bool = False, **changes: Any) -> ThreadState:
    """Return the thread as it ended."""
    by = ANA.user_id if ANA.user_id in why else None
    state = drafted().close(resolution, at=NOW + timedelta(minutes=4), why=why, by=by)
    return state.evolve(posted_message_id="1795165440.000200" if posted else None, **changes)


_OPENED = FixMark(
    fixes=(
        Fix(
            thread_id="T1.C1.1795165200.000100",
            patch=PATCH,
            commit="4f1c2d9e" * 5,
            question="",
            asked_by=ANA.user_id,
            asked_by_name="ana",
            asked_in_team="T1",
            asked_at=NOW,
            status=FixStatus.OPEN,
            request=PullRequest(number=412, url="https://github.com/example/shop/pull/412"),
        ),
    ),
    host="GitHub",
)


def card(state: ThreadState, *, progress: str | None = None, whole_at: str | None = None, **known: Any) -> list[Block]:
    """Return the blocks of a card, its file citations linked as on a code host; `known` is what it shows besides."""
    facts: dict[str, Any] = {name: lambda *_, value=value: value for name, value in known.items()}
    link_to = {"link_to": code_links("git@github.com:example/shop.git")}
    return card_blocks(state, CardFacts(**{**link_to, **facts}), progress=progress, whole_at=whole_at)


_SET = FILE.evolve(supports_claim="`read = 10` is set in `config/warehouse.toml:3-7`.")
_SEARCHED = a_return(
    evidence_refs=(_SET,),
    candidates=(
        OLD.evolve(supports_claim="`read_timeout = 30` is set in `shop/retry.py:4-5`."),
        EvidenceRef(
            kind=EvidenceKind.FILE,
            ref="shop/warehouse.py:21-26",
            commit=FILE.commit,
            quote="def order(self, items: list[str]) -> Receipt:\n"
            '    """Order, or raise Late after `timeouts.read` seconds."""\n'
            "    try:\n"
            "        return self._post(items, timeout=self._timeouts.read)\n"
            "    except requests.Timeout as late:\n"
            "        raise Late(items) from late",
            supports_claim="Closest: `shop/warehouse.py:21-26`.",
        ),
    ),
).with_claims(quoting_claims(_SET))
_NOTHING = (
    "I found nothing for “pick”, “lists” and “warehouse”; I searched 214 files at `4f1c2d9`. A file, a name from the "
    "code or the exact error text would help."
)
_FIRST = a_return("We wait 30 s for every request to the warehouse.", evidence_refs=(FILE,))
_BOUNCED = Round(
    round=1,
    investigator_return=_FIRST,
    checks=(Check(name="ref[0].quote", ok=False, reason="the cited lines do not say so"),),
    validator_return=a_verdict(
        Verdict.BOUNCE, validator_model=MODEL, reasons=("30 s stands nowhere in the cited lines",)
    ),
)
_OBJECTIONS = (
    "the draft says that the order fails; shop/orders.py:88 puts it back into the queue instead",
    "why pick lists take long is the comment's word alone",
)
_TRANSCRIPT = f"/var/lib/triage/escalations/{THREAD_ID}/transcript.log"
_QUESTIONS = (
    "Which environment do you mean: production reads config/warehouse.toml, staging has its own?",
    "Is the order in question one with a pick list?",
)
DISMISSED = closed(
    Resolution.DISMISSED, f"dismissed by <@{ANA.user_id}>", dismiss_reason="these are the old client's; v2 reads 30 s"
)
_TWINS = tuple(
    Twin(
        thread_id=f"{DEMO.team_id}.{channel.channel_id}.{1795165200 + 60 * minutes}.000100",
        chat_id=channel.channel_id,
        message_id=f"{1795165200 + 60 * minutes}.000100",
        asker=asker.user_id,
        asked_at=NOW + timedelta(minutes=minutes),
        permalink=f"https://demo.slack.com/archives/{channel.channel_id}/p{1795165200 + 60 * minutes}000100",
        reason="same-words",
    )
    for channel, asker, minutes in ((HELP, BEN, 2), (ENG, BEN, 5))
)
_JOINED = _TWINS[1].evolve(joined_by=ANA.user_id, question="Why does the warehouse give up on pick lists so late?")
_SAID = (QUESTION, DRAFT.replace("*", "").replace("`", ""))

AUTO = AutoReply(
    id="00112233aabbccdd",
    thread_id=drafted().thread_id,
    chat_id=HELP.channel_id,
    message_id=drafted().original_message_id,
    question=QUESTION,
    reply=RETURN.draft_reply,
    permalink=drafted().permalink,
    at=NOW,
)


def shadowed(state: ThreadState) -> ThreadState:
    """Return a draft that would have been sent."""
    mode, digest = AutonomyMode.SHADOW, state.draft_hash or ""
    return state.evolve(auto=AutoJudgement(at=NOW, draft_hash=digest, mode=mode, qualifies=True, conditions=()))


EDITED = "2 s to connect, 10 s to read, 45 s for pick lists."


def _edited_and_investigated_again() -> ThreadState:
    """Return a thread whose edit stands beside the draft of a later investigation."""
    return propose_draft(edit_draft(drafted(), EDITED, by=ANA.user_id), RETURN.draft_reply)


CARDS = Chapter(
    title="The card of a question",
    about="It stands in the private ops channel from the first second, one per question, and changes in place. "
    "The grey line under the question says where things stand; the buttons say what you can do about it.",
    scenes=(
        Scene(
            name="card-investigating",
            title="Investigating",
            meaning="A run is under way. *Add context* tells it what it cannot know.",
            shows=card(
                thread(),
                progress="7 tool calls · thinking: …the read timeout is set per client, so pick_list overrides it",
            ),
            said=(QUESTION,),
        ),
        Scene(
            name="card-alert",
            title="An alert that is over",
            meaning=(
                "One card however often the alert fires. Nothing rings any more; the draft may still be worth posting."
            ),
            shows=card(drafted(alert=_OVER, question=_OVER.name).with_doubts([alert_changed(_OVER.state, _ENDED)])),
        ),
        Scene(
            name="card-validated",
            title="✓ Checked by a second model",
            meaning=(
                "Code looked up every citation, and a second model found no fault. Open a citation or two, then "
                "*Approve*. `?` is what code cannot look up."
            ),
            shows=card(drafted()),
            said=_SAID,
        ),
        Scene(
            name="card-offline",
            title="Search result, not an answer",
            meaning=(
                "No model was used: one sentence and its lines, which code found at that commit. *Use this* makes "
                "another place the draft."
            ),
            shows=card(
                drafted(
                    ret=_SEARCHED,
                    judge=CODE_CHECKS,
                    checks=(HOLDS[0], *HOLDS[2:]),
                    investigator="offline",
                    usage=OFFLINE,
                )
            ),
            said=(QUESTION,),
        ),
        Scene(
            name="card-long",
            title="A draft too long for its card",
            meaning="The whole draft stands in the card's thread; read it there before you approve it.",
            shows=card(
                drafted(
                    ret=RETURN.model_copy(
                        update={"draft_reply": f"{DRAFT}\n\n" + "Each client has its own limits. " * 190}
                    ),
                    card_channel=OPS.channel_id,
                ),
                whole_at="1795165260.000100",
            ),
            said=(QUESTION,),
        ),
        Scene(
            name="card-disagreement",
            title="⚠ disagreement",
            meaning=(
                "After one correction the second model still objects; its reasons stand below the draft. Usually "
                "*Edit* or *Dismiss* is right."
            ),
            shows=card(
                drafted(
                    PendingReason.DISAGREEMENT,
                    verdict=Verdict.BOUNCE,
                    reasons=_OBJECTIONS,
                    note="shop/orders.py:88 was read; it says requeue(order)",
                    earlier=(_BOUNCED,),
                )
            ),
            said=(*_SAID, *_OBJECTIONS),
        ),
        Scene(
            name="card-context",
            title="Needs context",
            meaning=(
                "The answer depends on what neither code nor message says. *Add context* answers the questions; "
                "*Write reply* writes the reply."
            ),
            shows=card(
                drafted(
                    PendingReason.CONTEXT,
                    ret=a_return("", evidence_refs=(), confidence="low", open_questions=_QUESTIONS),
                )
            ),
            said=(QUESTION, *_QUESTIONS),
        ),
        Scene(
            name="card-nothing-found",
            title="Nothing found",
            meaning="The search found nothing; it says what it looked for and what would help.",
            shows=card(
                drafted(
                    PendingReason.CONTEXT,
                    ret=a_return("", evidence_refs=(), confidence="low", open_questions=(_NOTHING,)),
                    judge=CODE_CHECKS,
                    investigator="offline",
                    usage=OFFLINE,
                )
            ),
            said=(QUESTION,),
        ),
        Scene(
            name="card-failed",
            title="Failed",
            meaning="There is no draft; the card says why. *Re-investigate* or *Write reply*.",
            shows=card(
                thread(
                    ThreadStatus.PENDING_USER,
                    "the investigation failed: the model sent nothing for 60 s, three times in a row",
                    pending_reason=PendingReason.FAILED,
                    usage=COST,
                )
            ),
            said=(QUESTION,),
        ),
        Scene(
            name="card-escalated",
            title="Long investigation",
            meaning="A run of up to half an hour, outside the bot. The line on the card lets you watch it.",
            shows=card(
                thread(
                    ThreadStatus.ESCALATED,
                    f"<@{ANA.user_id}> asked for a long investigation",
                    by=ANA.user_id,
                    is_escalated=True,
                    escalation_tmux_session=session_name(THREAD_ID),
                    escalation_transcript_path=_TRANSCRIPT,
                ),
                progress="23 tool calls · thinking: …none of the four callers sets a deadline of its own",
            ),
            said=(QUESTION,),
        ),
        Scene(
            name="card-stale",
            title="Something changed since the draft",
            meaning=(
                "The changes are listed, newest first. *Post anyway* once you have looked at them, or *Re-investigate*."
            ),
            shows=card(
                drafted().in_doubt(
                    (
                        question_edited("How often do we retry, and why?"),
                        wrote_in_thread(BEN.user_id, NOW + timedelta(minutes=3, seconds=12)),
                        Doubt(code=DoubtCode.CODE_CHANGED, about="config/warehouse.toml:3-7"),
                    )
                )
            ),
            said=_SAID,
        ),
        Scene(
            name="card-twins",
            title="Asked in several threads",
            meaning=(
                "One investigation for all. *Answer there too* posts in each listed thread, *Approve* in the "
                "first only, *Not the same* takes a thread out."
            ),
            shows=card(drafted(twins=(_TWINS[0], _JOINED))),
            said=_SAID,
        ),
        Scene(
            name="card-paused",
            title="Paused",
            meaning="Somebody typed `/triage pause`. The question is kept until `/triage resume`.",
            shows=card(thread(), paused="paused by @ana since 2026-11-20 09:12 UTC"),
            said=(QUESTION,),
        ),
        Scene(
            name="card-edited",
            title="Edited, not posted",
            meaning="A human rewrote the draft and saved it. No model has judged these words, so there is no ✓.",
            shows=card(drafted().with_draft(EDITED, by=ANA.user_id)),
            said=(QUESTION,),
        ),
        Scene(
            name="card-two-drafts",
            title="Edited, and investigated again",
            meaning="*Approve* posts the human's text; *Use new* takes the draft below it.",
            shows=card(_edited_and_investigated_again()),
            said=(QUESTION,),
        ),
        Scene(
            name="card-note",
            title="With a note saved",
            meaning="Somebody saved the proposed note: the next question like this finds it first.",
            shows=card(
                drafted(
                    ret=RETURN.model_copy(
                        update={"proposed_triage_file": TriageFile(filename="warehouse-timeouts.md", content="45 s")}
                    ),
                    triage_file_path="memory/warehouse-timeouts.md",
                )
            ),
            said=_SAID,
        ),
        Scene(
            name="card-patch",
            title="With a proposed patch",
            meaning=(
                "Title, files and lines of a proposed change. Nothing is applied; *Open draft PR* checks it and "
                "opens a draft."
            ),
            shows=card(
                drafted(ret=RETURN.model_copy(update={"proposed_patch": PATCH})),
                fixes=FixMark(host="GitHub", is_offered=True),
            ),
            said=_SAID,
        ),
        Scene(
            name="card-fix",
            title="With a draft pull request",
            meaning="Somebody opened it; the card follows it until it is merged or closed.",
            shows=card(drafted(ret=RETURN.model_copy(update={"proposed_patch": PATCH})), fixes=_OPENED),
            said=_SAID,
        ),
        Scene(
            name="card-gloss",
            title="A question in another language",
            meaning="The line with the globe is the translation. The reply is in the asker's language.",
            shows=card(
                drafted(
                    ret=RETURN.model_copy(
                        update={
                            "gloss": "How long do we wait for the warehouse?",
                            "draft_language": "es",
                            "draft_reply": "Esperamos **2 s** para conectar y **10 s** la respuesta.",
                        }
                    ),
                    question="¿Cuánto tiempo esperamos al almacén?",
                )
            ),
            said=("¿Cuánto tiempo esperamos al almacén?",),
        ),
        Scene(
            name="card-posted",
            title="Posted",
            meaning="The card says who approved the reply, and shows exactly what was posted.",
            shows=card(closed(Resolution.APPROVED, f"approved by <@{ANA.user_id}>", posted=True)),
            said=_SAID,
        ),
        Scene(
            name="card-shadow",
            title="Would have been sent",
            meaning="With `autonomy: shadow`: the draft meets every condition, and still waits for an approver.",
            shows=card(shadowed(drafted())),
            said=(QUESTION,),
        ),
        Scene(
            name="audit-card",
            title="Sent automatically",
            meaning="*Take back* changes the reply into a note that it was withdrawn.",
            shows=audit_blocks(AUTO),
            said=(QUESTION,),
        ),
        Scene(
            name="audit-taken-back",
            title="Taken back",
            meaning="Automatic replies are off until somebody arms them again.",
            shows=audit_blocks(AUTO.evolve(taken_back_by=ANA.user_id, taken_back_at=NOW)),
            said=(QUESTION,),
        ),
        Scene(
            name="card-dismissed",
            title="Dismissed",
            meaning="Nothing was posted. The reason, if one was given, helps the next draft.",
            shows=card(DISMISSED),
            said=(QUESTION,),
        ),
        Scene(
            name="card-expired",
            title="Expired",
            meaning="Nobody decided for days. A new message in the thread opens a new card.",
            shows=card(closed(Resolution.EXPIRED, "expired: nobody decided, and there was no activity for 7 d")),
            said=(QUESTION,),
        ),
        Scene(
            name="card-withdrawn",
            title="Withdrawn",
            meaning="The asker deleted the question; nothing can be posted any more.",
            shows=card(closed(Resolution.WITHDRAWN, "the question was deleted")),
            said=(QUESTION,),
        ),
    ),
)
