"""What a model is told of a beat: the due tasks and everything seen so far, as delimited data."""

from __future__ import annotations

from collections.abc import Iterator

from bot.agent.prompts.prompt_sections import PromptSection
from bot.domain.heartbeats.session_state import MessageKind
from bot.domain.heartbeats.task_history import TierMove
from bot.domain.playbooks.playbook_entries import PlaybookEntry
from bot.domain.sharing.suggestion_wording import describe_suggestion
from bot.heartbeat.run.beat_view import BeatView, PeerData, tier_of
from bot.heartbeat.run.probes import ProbeResult

OUTPUT_CHARS = 6_000
NOTES = 20


def build_sections(view: BeatView, *, only_changed: bool) -> Iterator[PromptSection]:
    """Yield the beat's data, the due tasks first; a pre-screen sees only the outputs that changed."""
    yield PromptSection(
        name="due_tasks",
        text="\n".join(f"[{task.id}] {tier_of(task)}: {task.text}{_more(task.details)}" for task in view.tasks),
    )
    changed = {result.command for result in view.changed}
    for result in view.probes.results:
        if result.command in changed:
            yield PromptSection(name="probe_changed", text=_output(result), sender=result.command)
        elif not only_changed:
            yield PromptSection(name="probe_unchanged", text=_output(result), sender=result.command)
    if view.probes.refused:
        yield PromptSection(name="commands_not_allowed", text="\n".join(" ".join(argv) for argv in view.probes.refused))
    if view.probes.late:
        yield PromptSection(
            name="commands_no_time_was_left_for", text="\n".join(" ".join(argv) for argv in view.probes.late)
        )
    for message in view.inbox:
        if message.kind is MessageKind.SUGGESTION:  # what still waits of them stands below
            continue
        yield PromptSection(name="inbox", text=f"[{message.kind}] {message.text}", sender=message.from_)
    if not only_changed:
        yield from _exchange(view.exchange)
    if view.playbook.flags:
        yield PromptSection(name="urgent_flags", text="\n".join(map(_named, view.playbook.flags)))
    if view.playbook.notes and not only_changed:
        yield PromptSection(name="notes", text="\n".join(map(_named, view.playbook.notes[-NOTES:])))
    if view.open_findings:
        known = [
            f"[{each.key.rpartition('/')[2]}] {each.text.splitlines()[0][:200]}"
            for each in view.open_findings
            if each.text
        ]
        yield PromptSection(name="open_findings", text="\n".join(known))
    if view.moves and not only_changed:
        yield PromptSection(name="measured", text="\n".join(map(_proposal, view.moves)))
    if view.session.beat.prompt and not only_changed:
        yield PromptSection(name="team_wishes", text=view.session.beat.prompt)


def _exchange(exchange: PeerData) -> Iterator[PromptSection]:
    """Yield what the beat has to do with other sessions; task lines are theirs, and data like all the rest."""
    if exchange.offered:
        lines = [
            f"[{one.id}] {describe_suggestion(one)}: {one.task}\n    why: {one.reason}" for one in exchange.offered
        ]
        yield PromptSection(name="suggestions_for_you", text="\n".join(lines))
    if exchange.offers:
        lines = [f"[{one.id}] to {one.to}, {one.tier}: {one.task}\n    why: {one.reason}" for one in exchange.offers]
        yield PromptSection(name="suggestions_to_send", text="\n".join(lines))
    for worker, text in exchange.playbooks.items():
        yield PromptSection(name="playbook", text=text, sender=worker)
    if exchange.silent:
        yield PromptSection(name="sessions_without_a_report", text="\n".join(exchange.silent))


def _output(result: ProbeResult) -> str:
    text = result.problem or result.output or "(printed nothing)"
    return text if len(text) <= OUTPUT_CHARS else text[:OUTPUT_CHARS] + "\n… (cut)"


def _named(entry: PlaybookEntry) -> str:
    return f"[{entry.id}] {entry.text}"


def _proposal(move: TierMove) -> str:
    return f"[{move.task_id}] {move.from_tier} -> {move.to_tier}: {move.why}"


def _more(details: tuple[str, ...]) -> str:
    return "".join(f"\n    {line}" for line in details)
