"""What became of a message, on one screen of 80 columns: pure, over records and a thread's state.

Chat text and the words of models are shown on one line each, without what a terminal would obey.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from pydantic import ValidationError

from bot.casework.reports.answers import MARKS
from bot.casework.reports.measures import dollars, seconds, time_of
from bot.casework.reports.status_overview import unreadable_words
from bot.domain.alerts import ThreadAlert
from bot.domain.citations.links import LinkTo, sibling_message_link
from bot.domain.events import Event
from bot.domain.paging import Paging
from bot.domain.patches import fenced_diff, patch_summary
from bot.domain.questions.feedback import Feedback
from bot.domain.returns import CODE_CHECKS, Check, ValidatorReturn, Verdict, assumed_words
from bot.domain.secrets import redact
from bot.domain.text.humanize import Names, counted, duration
from bot.domain.text.sanitize import one_line
from bot.domain.threads import Resolution, Round, ThreadState
from bot.intake.classifier.classification import Rules, explain

WIDTH: Final = 80
MAX_STEPS: Final = 12
MAX_FAULTS: Final = 3
MAX_REFS: Final = 8
MAX_DIFF_LINES: Final = 60
_INDENT: Final = 10
_WHY: Final = {
    "is_bot_mention": "mentions the bot",
    "is_question": "is a question",
    "mentions_thread_with_inflight": "is in a thread that is being handled",
    "is_alarm": "is an alarm",
    "is_ack_or_emoji": "is an acknowledgement",
    "is_internal_chatter": "is addressed to another person",
}
NO_NAMES: Final = Names()
Record = dict[str, Any]


def render_timeline(
    state: ThreadState,
    events: Sequence[Record],
    replies: Sequence[Record],
    link_to: LinkTo,
    rules: Rules | None,
    *,
    names: Names,
    feedback: Sequence[Feedback],
) -> str:
    """Return the whole chain of a thread; `link_to` gives a citation's page on the code host, if there is one."""
    ending = f" ({state.resolution or state.pending_reason})" if state.resolution or state.pending_reason else ""
    lines = [f"{state.thread_id}  {state.status}{ending}, {state.started_at.astimezone(UTC):%Y-%m-%d} (times are UTC)"]
    lines += [state.permalink] if state.permalink else []
    asked = _event_lines(events, rules, names) or _line(_clock(state.started_at), f"“{state.question}”", lines=2)
    lines += ["", *asked, *_history(state, names), *_alert(state.alert)]
    lines += [*_pages(state.paging, names), *_auto(state, names)]
    lines += [*_decision(state, replies, names), *_votes(feedback, names)]
    lines += [*_evidence(state, link_to), *_patch(state), *_messages(state)]
    lines += ["", f"Next: triage verify {state.thread_id} --lines"]
    return "\n".join(lines)


def render_unanswered(events: Sequence[Record], rules: Rules | None, *, unreadable: str, names: Names) -> str:
    """Return what the rules made of messages that no thread came of, or whose thread's file cannot be read."""
    lines = _event_lines(events, rules, names)
    if unreadable:
        lines.append(f"Of its thread: {unreadable_words(unreadable)}.")
    elif any(event.get("classification") == "actionable" for event in events):
        lines.append("It has no thread: its job may be waiting, or may have failed. Next: triage status")
    else:
        lines.append("So nothing was done. Next: triage classify --why shows what today's rules do with it.")
    return "\n".join(lines)


def _event_lines(events: Sequence[Record], rules: Rules | None, names: Names) -> list[str]:
    """Return the first message and what followed, with what the rules said of each."""
    lines: list[str] = []
    for event in events[:3]:
        sender = event.get("sender")
        who = names.name(str(sender.get("id"))) if isinstance(sender, dict) else "somebody"
        where = event.get("chat_name") or names.name(str(event.get("chat_id")))
        at = _clock(time_of(event.get("create_time")))
        lines += _line(at, f"{who} in {where}: “{names.text(str(event.get('content')))}”", lines=2)
        lines += _line(_clock(time_of(event.get("classified_at"))), _classified(event))
        lines += _scored(event, rules) if rules else []
    if len(events) > 3:
        lines += _line("", f"… and {len(events) - 3} more messages")
    return lines


def _classified(event: Record) -> str:
    why = [words for name, words in _WHY.items() if event.get(name) is True]
    if isinstance(alert := event.get("alert"), dict):
        why = [f"{' '.join(filter(None, (alert.get('tool'), 'alert')))} that is {alert.get('state')}"]
    because = ", ".join(why) or "no rule found a request in it"
    sure, version = event.get("classifier_confidence"), event.get("classifier_version")
    return f"{event.get('classification')}: {because} (confidence {sure}, rules {version})"


def _scored(event: Record, rules: Rules) -> list[str]:
    """Return the n-grams that moved the score most; nothing where a rule alone decided."""
    try:
        found = explain(Event.model_validate(event), rules, inflight=event.get("mentions_thread_with_inflight") is True)
    except ValidationError:
        return []
    if found.probability is None or found.threshold is None:
        return []
    since = "" if event.get("classifier_version") == rules.version else f", by the rules of today ({rules.version})"
    said = f"probability of a question {found.probability:.2f}, threshold {found.threshold:.2f}{since}"
    return [*_line("", said), *_line("", ", ".join(map(str, found.ngrams)), lines=2)]


def _history(state: ThreadState, names: Names) -> Iterator[str]:
    """Yield the steps, each round under the step that it led to."""
    rounds = {each.round: each for each in state.rounds}
    left = len(state.status_history) - MAX_STEPS
    if left > 0:
        yield from _line("", f"… {left} earlier steps")
    shown: set[int] = set()
    for step in state.status_history[-MAX_STEPS:]:
        yield from _line(_clock(step.at), f"→ {step.to}: {names.text(step.why)}")
        if step.round in rounds and step.round not in shown:
            shown.add(step.round)
            yield from _round_lines(rounds[step.round], names)
    for number in sorted(set(rounds) - shown):
        yield from _round_lines(rounds[number], names)


def _alert(alert: ThreadAlert | None) -> Iterator[str]:
    """Yield how an alert stands."""
    if alert is not None:
        fired = f"it fired {counted(alert.count, 'time')}, last at {_clock(alert.last_at)}"
        yield from _line(_clock(alert.changed_at), f"the alert is {alert.state}; {fired}")


def _pages(paging: Paging, names: Names) -> Iterator[str]:
    """Yield what became of a question that paged."""
    if paging.rings:
        yield from _line(_clock(paging.rung_at), f"rang again, {counted(paging.rings, 'time')} so far")
    if paging.escalated_to:
        yield from _line(
            _clock(paging.escalated_at), f"escalated to {names.name(paging.escalated_to)}: nobody acknowledged it"
        )
    if paging.acknowledged_by:
        yield from _line(_clock(paging.acknowledged_at), f"acknowledged by {names.name(paging.acknowledged_by)}")


def _auto(state: ThreadState, names: Names) -> Iterator[str]:
    """Yield whether the draft could be sent without a human: each condition with its reason."""
    if state.auto is None:
        return
    said = "every condition held" if not state.auto.missing else f"not sent: {len(state.auto.missing)} did not hold"
    yield from _line(_clock(state.auto.at), f"automatic reply (autonomy: {state.auto.mode}): {said}")
    for one in state.auto.conditions:
        yield from _line("", f"{MARKS[one.holds]} {names.text(one.said)}")


def _round_lines(each: Round, names: Names) -> Iterator[str]:
    ret, verdict = each.investigator_return, each.validator_return
    oks = [check.ok for check in each.checks]
    checks = f"{oks.count(True)} ok, {oks.count(False)} failed, {oks.count(None)} open" if oks else "none made"
    judged = f"{verdict.verdict} by {_judge(verdict)}" if verdict else "not judged"
    refs = counted(len(ret.evidence_refs), "citation")
    chosen = f"chosen by {names.name(each.chosen_by)}, " if each.chosen_by else ""
    yield from _line("", f"round {each.round}: {chosen}{ret.confidence}, {refs}; checks {checks}; {judged}")
    faults = [check for check in each.checks if check.ok is False]
    for check in faults[:MAX_FAULTS]:
        yield from _line("", _fault(check))
    if len(faults) > MAX_FAULTS:
        yield from _line("", f"… and {len(faults) - MAX_FAULTS} more")
    if verdict and verdict.verdict is not Verdict.PASS and not faults:
        yield from (line for reason in verdict.reasons[:MAX_FAULTS] for line in _line("", f"  {reason}"))


def _judge(verdict: ValidatorReturn) -> str:
    """Return who judged a draft: what passed the code checks alone was read by no second model."""
    if verdict.validator_model == CODE_CHECKS:
        return "code checks alone, no second model"
    read = f", which read {', '.join(verdict.read)}" if verdict.read else ""
    return f"{verdict.validator_model}{read}"


def _fault(check: Check) -> str:
    return f"{MARKS[check.ok]} {check.name}: {check.reason}"


def _decision(state: ThreadState, replies: Sequence[Record], names: Names) -> list[str]:
    """Return who decided, what was posted, and what it took."""
    lines: list[str] = []
    if state.user_approved_at and state.resolution not in (Resolution.APPROVED, Resolution.EDITED):
        lines += _line(_clock(state.user_approved_at), f"approved by {names.name(str(state.approved_by))}")
    if state.dismiss_reason:
        lines += _line("", f"dismissed: {names.text(state.dismiss_reason)}")
    for reply in replies[-2:]:
        edited = ", edited" if reply.get("edited") else ""
        took = seconds(float(reply["latency_s"])) if isinstance(reply.get("latency_s"), int | float) else "?"
        said = f"posted as {reply.get('posted_message_id')}{edited}: {reply.get('validator_verdict')}, after {took}"
        lines += _line(_clock(time_of(reply.get("posted_at"))), said)
    if state.posted_message_id and not replies:
        lines += _line("", f"posted as {state.posted_message_id}; not in the reply log")
    cost = dollars(state.usage.cost_usd) + assumed_words(state.usage) if state.usage else "$0"
    runs = ", ".join(f"runs/{run}" for run in (state.investigator_task_id, state.validator_task_id) if run)
    took = f"; the draft took {duration(state.work_time)}" if state.work_time is not None else ""
    return lines + _line("", f"cost {cost}{took}" + (f"; {runs}" if runs else ""), lines=4)


def _votes(feedback: Sequence[Feedback], names: Names) -> Iterator[str]:
    """Yield what each person said last of the replies of a thread."""
    found = [(vote.at, user, vote.is_helpful) for one in feedback for user, vote in one.votes.items()]
    for at, user, is_helpful in sorted(found):
        yield from _line(_clock(at), f"{names.name(user)}: the reply was {'' if is_helpful else 'not '}helpful")


def _evidence(state: ThreadState, link_to: LinkTo) -> Iterator[str]:
    """Yield what the latest draft cites, each with its mark and, whole on a line of its own, its link."""
    cited = state.citations
    if cited:
        yield ""
    for ref, mark in cited[:MAX_REFS]:
        at = f" at {ref.commit[:7]}" if ref.commit else ""
        yield from _line("cites", f"{MARKS[mark]} {ref.ref}{at}", lines=1)
        if link := link_to(ref):
            yield f"{'':<{_INDENT}}{link}"
    if len(cited) > MAX_REFS:
        yield from _line("", f"… and {len(cited) - MAX_REFS} more")


def _patch(state: ThreadState) -> Iterator[str]:
    """Yield the patch that the latest draft proposes, in short and then its diff."""
    patch = state.investigator_return.proposed_patch if state.investigator_return else None
    if patch is None or patch.is_empty:
        return
    yield ""
    yield from _line("patch", f"{patch_summary(patch)} (proposed, not applied)")
    if patch.rationale.strip():
        yield from _line("", f"why: {redact(patch.rationale)}", lines=3)
    yield from fenced_diff(patch, at_most=MAX_DIFF_LINES)


def _messages(state: ThreadState) -> Iterator[str]:
    """Yield the links of the card and of the reply, where the question's own shows what links look like."""
    card = (state.card_channel, state.card_ts) if state.card_channel and state.card_ts else None
    reply = (state.chat_id, state.posted_message_id) if state.posted_message_id else None
    for name, place in (("card", card), ("reply", reply)):
        if place and (link := sibling_message_link(state.permalink, *place)):
            yield f"{name:<{_INDENT}}{link}"


def _line(at: str, text: str, *, lines: int = 2) -> list[str]:
    """Return foreign words beside a time, on so many lines at most."""
    said = textwrap.wrap(one_line(text), WIDTH - _INDENT, max_lines=lines, placeholder=" …") or [""]
    return [f"{at if number == 0 else '':<{_INDENT}}{line}".rstrip() for number, line in enumerate(said)]


def _clock(at: datetime | None) -> str:
    return f"{at.astimezone(UTC):%H:%M:%S}" if at else ""
