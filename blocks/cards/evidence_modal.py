"""The dialogues behind Show evidence and Show proof: citations with mark, claim and lines. Pure.

Show evidence is for approvers and shows all that is known of a draft; Show proof shows what a posted reply rests on.
File contents are hostile: they are shown in code blocks, inert. What Slack has no room for is counted, with what to
type to read it on the bot's machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate, chain, takewhile
from typing import Final

from slack_sdk.models.blocks import Block, DividerBlock
from slack_sdk.models.views import View

from blocks.elements import notice
from blocks.text.outgoing_text import context, escape, fence, plain, section
from blocks.text.splitting import SECTION_CHARS, VIEW_BLOCKS, VIEW_BYTES, size_of
from bot.casework.checks.addresses import ShownCitation, printed_lines
from bot.casework.checks.sources import Lines, Missing
from bot.casework.posting.reply_proof import ProofAccess, ReadProof
from bot.domain.citations.citation_lines import shown_ref
from bot.domain.citations.links import LinkTo
from bot.domain.returns import EvidenceKind, EvidenceRef, remark_on
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import strip_hidden

MAX_CITATIONS: Final = 12
NAME_CHARS: Final = 160
CLAIM_CHARS: Final = 400
REASON_CHARS: Final = 300
SENTENCES: Final = 4
QUOTE_CHARS: Final = 1_500
LINK_CHARS: Final = 1_000
_MARKS: Final = {True: "✓ verified", False: "✗ refuted", None: "? cannot be checked by code"}
_SINCE: Final = {None: "", False: " · the same today", True: " · changed since then"}
_MEANINGS: Final = {
    True: "verified: the lines stand at that place",
    False: "wrong: the place does not exist, or says something else",
    None: "cannot be checked by code: please check it yourself",
}


def loading_modal() -> View:
    """Return the dialogue while permission is asked and git is read: it shows nothing of the draft."""
    return notice("Evidence", [context("Looking up the citations …")])


def evidence_modal(thread_id: str, citations: Sequence[ShownCitation], link_to: LinkTo, *, left_out: int = 0) -> View:
    """Return the dialogue with all that is known of the citations; `left_out` are further ones of the draft.

    Of what would be too large for Slack the last citations are left out as well, and counted.
    """
    if not citations:
        return notice("Evidence", [section("This draft cites nothing, so nothing here can be checked.")])
    made = [[DividerBlock(), *_citation(citation, link_to(citation.ref))] for citation in citations]

    def view(shown: int) -> View:
        head, foot = context(_count(citations[:shown])), _foot(thread_id, left_out + len(citations) - shown)
        return notice("Evidence", [head, *chain.from_iterable(made[:shown]), *foot])

    return _that_fits(view, len(citations))


def proof_modal(read: ReadProof, line: str, link_to: LinkTo) -> View:
    """Return the dialogue with what a reply rests on, as far as the reader may see it; `line` stands under the reply.

    Lines are only those that stand at their place now; whoever sees places only is given no link either.
    """
    has_lines = read.access > ProofAccess.PLACES
    made = [
        [DividerBlock(), *_proof(citation, sentences, link_to if has_lines else None)]
        for citation, sentences in read.shown[:MAX_CITATIONS]
    ]

    def view(shown: int) -> View:
        foot = _left_out(read, len(read.shown) - shown)
        return notice("Proof of this reply", [context(line), *chain.from_iterable(made[:shown]), *foot])

    return _that_fits(view, len(made))


def _that_fits(view: Callable[[int], View], shown: int) -> View:
    """Return the dialogue with as many citations as Slack has room for."""
    while True:
        made = view(shown)
        if shown <= 1 or (len(made.blocks or ()) <= VIEW_BLOCKS and size_of(made.to_dict()) <= VIEW_BYTES):
            return made
        shown -= 1


def _proof(citation: ShownCitation, sentences: Sequence[str], link_to: LinkTo | None) -> list[Block]:
    """Return a citation as whoever reads the reply sees it: the sentences it proves, then its lines."""
    link = link_to(citation.ref) if link_to else None
    said = "".join(f"\n✓ {_words(one, CLAIM_CHARS)}" for one in sentences[:SENTENCES]) if citation.mark else ""
    head = section(f"{_title(citation, link)}{said}")
    found = citation.found
    if link_to is None:
        return [head]
    if isinstance(found, Lines):
        return [head, *_lines(found)]
    return [head, context(_not_shown(found))]


def _left_out(read: ReadProof, more: int) -> list[Block]:
    """Return what of a proof is not shown, and why."""
    said = []
    if read.access is ProofAccess.PLACES:
        said.append("You see the places; members of this workspace see their lines, too.")
    if read.withheld:
        said.append(f"{counted(read.withheld, 'tool result or note', 'tool results or notes')} only for approvers.")
    if more:
        said.append(f"{more} more are not shown here.")
    return [DividerBlock(), context(" ".join(said))] if said else []


def _foot(thread_id: str, left_out: int) -> list[Block]:
    more = f"{left_out} more are not shown here. " if left_out else ""
    hint = f"`triage verify {escape(thread_id)} --lines` on the bot's machine checks them all again, in full"
    return [DividerBlock(), context(more + hint)]


def _count(citations: Sequence[ShownCitation]) -> str:
    """Return how many there are of each mark, and what that means."""
    marks = Counter(citation.mark for citation in citations)
    return "\n".join(
        f"{_MARKS[mark][0]} {marks[mark]} {_MEANINGS[mark]}" for mark in (True, False, None) if marks[mark]
    )


def _citation(citation: ShownCitation, link: str | None) -> list[Block]:
    return [_heading(citation, link), *_source(citation), *_remark(citation)]


def _heading(citation: ShownCitation, link: str | None) -> Block:
    said = remark_on(citation.ref, citation.mark)
    claim = f"\nfor: {_words(said, CLAIM_CHARS)}" if said else ""
    return section(f"{_title(citation, link)}{claim}")


def _title(citation: ShownCitation, link: str | None) -> str:
    """Return where a citation points, at which commit, in what kind of place, its mark, and whether it still holds."""
    ref = citation.ref
    name = _words(_name(ref), NAME_CHARS) or "(no name)"
    shown = f"<{link}|{name}>" if link and len(link) <= LINK_CHARS else name
    at = f" at {_words(ref.commit[:7], 8)}" if ref.commit and ref.commit != ref.ref else ""
    place = citation.found.place if isinstance(citation.found, Lines) else None
    kind = f" · {place}" if place and place != "program" else ""
    return f"*{shown}*{at}{kind} · {_MARKS[citation.mark]}{_SINCE[citation.is_changed]}"


def _name(ref: EvidenceRef) -> str:
    return f"commit {ref.ref[:12]}" if ref.kind is EvidenceKind.GIT_COMMIT else shown_ref(ref.ref)


def _source(citation: ShownCitation) -> list[Block]:
    """Return the lines that the citation points at, and a quotation that came with it and does not stand there."""
    found = citation.found
    if not isinstance(found, Lines):
        return _quotation(citation, "Quoted")
    return [*_lines(found), *_quotation(citation, "Quoted, but not in the source")]


def _lines(found: Lines) -> list[Block]:
    about = [context(_words(found.about, NAME_CHARS))] if found.about else []
    return [_code(printed_lines(found)), *about]


def _quotation(citation: ShownCitation, title: str) -> list[Block]:
    quote = strip_hidden(citation.strange_quote)[0].strip("\n")
    more = len(quote) - QUOTE_CHARS
    cut = f"{quote[:QUOTE_CHARS]} … {more:,} more characters" if more > 0 else quote
    return [section(f"{title}:\n{fence(cut)}")] if quote.strip() else []


def _remark(citation: ShownCitation) -> list[Block]:
    """Return why it is not verified, or why there are no lines to read."""
    found, why = citation.found, "" if citation.mark else _words(citation.reason, REASON_CHARS)
    unread = "" if isinstance(found, Lines) or found.why == citation.reason else _not_shown(found)
    said = " · ".join(part for part in (why, unread) if part)
    return [context(said)] if said else []


def _not_shown(found: Missing) -> str:
    return f"Not shown: {_words(found.why, REASON_CHARS)}."


def _code(lines: Sequence[str]) -> Block:
    """Return as many lines as a section holds, and how many there are more."""
    chars = accumulate(len(line) + 1 for line in lines)
    kept = list(lines[: max(1, sum(1 for _ in takewhile(lambda total: total < SECTION_CHARS, chars)))])
    while len(kept) > 1 and len(_fenced(kept, len(lines) - len(kept))) > SECTION_CHARS:
        kept.pop()
    return section(_fenced(kept, len(lines) - len(kept)))


def _fenced(lines: Sequence[str], left: int) -> str:
    return fence("\n".join(lines)) + (f"\n… {counted(left, 'more line')}" if left else "")


def _words(text: str, limit: int) -> str:
    """Return foreign words on one line, inert; a code fence in them would swallow what follows."""
    return escape(plain(text.replace("`", "'"), limit))
