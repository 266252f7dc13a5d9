"""What stands around a draft on its card: citations, twins, an earlier reply. Pure.

Each citation stands there with its mark, its line and its claim. Twins are threads in which the same was asked; each
has a way to take it out.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from textwrap import dedent
from typing import Final

from slack_sdk.models.blocks import Block

from blocks import ids
from blocks.elements import button
from blocks.text.outgoing_text import code_line, context, escape, fence, inline_code, local_time, plain, section
from blocks.text.splitting import LINK_CHARS, shorten
from bot.casework.checks.sources import place_of
from bot.casework.clicks import DraftClick
from bot.domain.citations.citation_lines import path_in_codebase, shown_ref
from bot.domain.citations.links import LinkTo, sibling_message_link
from bot.domain.drafts import offered_candidates
from bot.domain.events import is_direct
from bot.domain.returns import EvidenceKind, EvidenceRef, remark_on
from bot.domain.secrets import redact
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import strip_hidden
from bot.domain.threads import ThreadState, Twin

SHOWN: Final = 5
"""Twins with a line and a button of their own; the others are counted."""

EARLIER_CHARS: Final = 300
NOT_SAME: Final = "Not the same"

SHOWN_REFS = 8
SHA_CHARS = 12
REF_CHARS = 90
CLAIM_CHARS = 120
CAUTION_CHARS = 300
SHOWN_LINES = 3
LINE_CHARS = 100
QUOTED_LINES = 6
TAB_CHARS = 4
COMMIT: Final = "commit "

TOOL_NAMES: Final = {
    "argocd": "Argo CD",
    "cloudwatch": "CloudWatch",
    "github": "GitHub",
    "gitlab": "GitLab",
    "incident.io": "incident.io",
    "pagerduty": "PagerDuty",
    "uptimerobot": "UptimeRobot",
}
"""Of alert tools that are not written as their ids are, with a capital."""

_MARKS = {True: "✓", False: "✗", None: "?"}


def asked_by(state: ThreadState) -> str:
    """Return who asked, or which tool's alert it is; what follows names the place."""
    if state.alert is None:
        return f"*<@{state.original_sender_id}>* asked"
    tool = TOOL_NAMES.get(state.alert.tool, state.alert.tool.title())
    return f"*{escape(tool)} alert*" if tool else "*Alert*"


def place_words(chat_id: str) -> str:
    """Return where something was written, as words or a mention: direct messages have no name."""
    return "a direct message" if is_direct(chat_id) else f"<#{chat_id}>"


def twin_blocks(state: ThreadState) -> list[Block]:
    """Return where else the same was asked, or was answered; nothing where it was not."""
    twins = state.shown_twins
    if not twins:
        return []
    there = counted(len(twins), "other thread")
    if not state.is_open:
        return [
            context(f":busts_in_silhouette: *Answered there too:* {there}"),
            *map(section, map(_line, twins[:SHOWN])),
        ]
    lines: list[Block] = [context(f":busts_in_silhouette: *Also asked in {there}*")]
    for twin in twins[:SHOWN]:
        not_same = button(NOT_SAME, ids.NOT_SAME, _value(twin))
        block_id = f"{ids.NOT_SAME}_{twin.thread_id}"  # App Home shows many cards in one view
        lines.append(section(_line(twin), accessory=not_same, block_id=block_id))
    left = len(twins) - SHOWN
    return [*lines, *([context(f"… and {left} more")] if left > 0 else [])]


def earlier_lines(state: ThreadState) -> list[Block]:
    """Return the reply that was approved to the same question before, and what it cites that stands no more."""
    earlier = state.earlier_reply
    if earlier is None or not state.is_open:
        return []
    link = sibling_message_link(state.permalink, earlier.chat_id, earlier.message_id)
    said_when = "Answered before" if state.alert is None else f"As on {earlier.posted_at.astimezone(UTC):%A}"
    where = f"<{link}|{said_when}>" if link else said_when
    by = f" · reply approved by <@{earlier.approved_by}>" if earlier.approved_by else ""
    said = escape(plain(redact(earlier.text), EARLIER_CHARS))
    refs = ", ".join(inline_code(ref, 90) for ref in earlier.changed)
    changed = f"\n:warning: the lines it cites are not there any more: {refs}" if refs else ""
    return [context(f":leftwards_arrow_with_hook: *{where}*{by}, {local_time(earlier.posted_at)}: {said}{changed}")]


def _line(twin: Twin) -> str:
    link = f" · <{twin.permalink}|open thread>" if twin.permalink else ""
    said = escape(plain(redact(twin.question), CLAIM_CHARS))
    joined = f"\n“{said}” · <@{twin.joined_by}> says that it asks the same" if twin.joined_by else ""
    return f"<@{twin.asker}> in {place_words(twin.chat_id)}, {local_time(twin.asked_at)}{link}{joined}"


def _value(twin: Twin) -> str:
    return ids.CLICK.encode(DraftClick(thread_id=twin.thread_id, version=0, draft_hash=""))


def evidence_lines(state: ThreadState, link_to: LinkTo) -> list[Block]:
    """Return each citation of a draft once: one that the draft itself prints is counted, each other one has a line."""
    if not state.citations or not state.rounds or not state.draft_pending:
        return []
    draft = state.draft_new.text if state.draft_new else state.draft_pending
    printed = [ref for ref, mark in state.citations if mark and f"```\n{ref.quote}\n```" in draft]
    others = [(ref, mark) for ref, mark in state.citations if ref not in printed]
    lines = [_printed_line(printed, link_to)] if printed else []
    if others:
        before = " of the draft before it was edited" if state.has_edited_draft else ""
        before = " of the new draft" if state.draft_new else before
        lines.append(_evidence_title([mark for _, mark in others], before))
    lines += [_ref_line(ref, mark, link_to(ref)) for ref, mark in others[:SHOWN_REFS]]
    more = len(others) - SHOWN_REFS
    return [*map(context, lines), *([context(f"… and {more} more")] if more > 0 else [])]


def candidate_blocks(state: ThreadState, link_to: LinkTo) -> list[Block]:
    """Return what else a search found, each with its place, its first lines and the button that makes it the draft."""
    offered = offered_candidates(state)
    if not offered:
        return []
    parts: list[Block] = [context("*Also found* · the asker does not see this · *Use this* makes it the draft")]
    for name, ref in offered.items():
        click = DraftClick(thread_id=state.thread_id, version=state.draft_version, draft_hash=name)
        use = button("Use this", ids.USE_THIS, ids.CLICK.encode(click))
        block_id = f"{ids.USE_THIS}_{state.thread_id}_{name}"  # App Home shows many cards in one view
        parts.append(section(f"{_placed(ref, link_to(ref))}\n{_beginning(ref)}", accessory=use, block_id=block_id))
    return parts


def _placed(ref: EvidenceRef, link: str | None) -> str:
    """Return what is said of a candidate with its place, which stands below it where the sentence does not name it."""
    said = escape(plain(redact(ref.supports_claim), CAUTION_CHARS))
    name = _name(ref).removeprefix(COMMIT)
    named = next((one for one in (f"`{name}`", f"`{name.partition('-')[0]}`") if one in said), None)
    if named is None:
        return f"{said}\n{_place(ref, link)}{_kind_of_place(ref)}"
    return f"{said.replace(named, f'<{link}|{named[1:-1]}>' if link else named)}{_kind_of_place(ref)}"


def _beginning(ref: EvidenceRef) -> str:
    """Return the first lines of a candidate as they would be posted, long ones cut."""
    lines = dedent(redact(strip_hidden(ref.quote)[0]).expandtabs(TAB_CHARS)).split("\n")
    more = len(lines) - QUOTED_LINES
    rest = [f"… {counted(more, 'more line')}"] if more > 1 else lines[QUOTED_LINES:]
    return fence("\n".join([*(shorten(line, LINE_CHARS) for line in lines[:QUOTED_LINES]), *rest]))


def _printed_line(printed: Sequence[EvidenceRef], link_to: LinkTo) -> str:
    """Return that the lines which a draft prints stand at the places that it names."""
    commits = ", ".join(dict.fromkeys(ref.commit[:7] for ref in printed if ref.commit))
    verb = "matches" if len(printed) == 1 else "match"
    links = [f"<{link}|open>" for link in map(link_to, printed) if link and len(link) <= LINK_CHARS]
    kinds = dict.fromkeys(map(_kind_of_place, printed))
    found = (
        f"✓ {counted(len(printed), 'place')} above {verb} the code{f' at commit {escape(commits)}' if commits else ''}"
    )
    return " · ".join([found + "".join(kinds), *links])


def _evidence_title(marks: Sequence[bool | None], before: str) -> str:
    """Return the heading, with a word on each mark that is no ✓."""
    meant = {False: "✗ is not what the source says", None: "? cannot be checked by code"}
    return " · ".join([f"*Evidence*{before}", *(words for mark, words in meant.items() if mark in marks)])


def _ref_line(ref: EvidenceRef, mark: bool | None, link: str | None) -> str:
    """Return a citation: mark, place, what is said of one without a ✓, and the first lines."""
    if ref.kind is EvidenceKind.MEMORY and mark is None:  # proves nothing, and should be known before a click
        return f":bulb: {escape(plain(ref.supports_claim, CAUTION_CHARS))} · `{_name(ref)}`"
    claim = escape(plain(remark_on(ref, mark), CLAIM_CHARS))
    at = f" at {escape(ref.commit[:7])}" if ref.commit and ref.commit != ref.ref else ""
    head = f"{_MARKS[mark]} {_place(ref, link)}{at}{_kind_of_place(ref)}{f' · {claim}' if claim else ''}"
    return "\n".join([head, *_first_lines(redact(strip_hidden(ref.quote)[0]))])


def _name(ref: EvidenceRef) -> str:
    place = shown_ref(ref.ref).replace("`", "")
    is_commit = ref.kind is EvidenceKind.GIT_COMMIT
    return escape(plain(f"{COMMIT}{place[:SHA_CHARS]}" if is_commit else place, REF_CHARS))


def _place(ref: EvidenceRef, link: str | None) -> str:
    """Return where a citation points, with its link."""
    return f"<{link}|{_name(ref)}>" if link and len(link) <= LINK_CHARS else f"`{_name(ref)}`"


def _kind_of_place(ref: EvidenceRef) -> str:
    """Return what a cited file is where it is no program code: a test or an example says less."""
    place = place_of(path_in_codebase(ref.ref)) if ref.kind is EvidenceKind.FILE else None
    return f" · {place}" if place and place != "program" else ""


def _first_lines(quote: str) -> list[str]:
    """Return the first printed lines as code, and how many there are more."""
    lines = [line.strip() for line in quote.split("\n") if line.strip()]
    more = len(lines) - SHOWN_LINES
    shown = [code_line(line, LINE_CHARS) for line in lines[:SHOWN_LINES]]
    return [*shown, f"… and {counted(more, 'more line')}"] if more > 0 else shown
