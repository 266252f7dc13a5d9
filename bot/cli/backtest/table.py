"""The result of a backtest for a terminal, at most 80 columns wide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from bot.casework.backtest.known_answers import Standing
from bot.casework.backtest.results import Backtest, PastDraft, Share
from bot.casework.reports.measures import dollars, middle, percent, seconds
from bot.cli.output import cut, wrapped
from bot.domain.text.humanize import counted
from bot.domain.text.sanitize import one_line

NAMED: Final = 3
"""So many of the best and the worst; the page has ten."""

_WHAT: Final = {
    "drafted": "questions with a draft",
    "passed": "drafts that passed all checks",
    "right": "right, of drafts whose answer is known",
    "found": "right, of questions whose answer is known",
    "wrongly_ignored": "marked: wrongly left alone",
    "wrongly_heard": "marked: wrongly taken for work",
}
_DECISIONS: Final = ("approved", "edited", "auto", "dismissed")


def render(done: Backtest, html: Path | None) -> str:
    """Return the table."""
    classes, standings = done.classes, done.standings
    bad = f", {done.unreadable:,} unreadable" if done.unreadable else ""
    heard = ", ".join(f"{classes[name]:,} {name}" for name in ("actionable", "ack", "ambient"))
    lines = [
        wrapped(f"{done.title}: {counted(len(done.heard), 'message')}{bad}; {heard}"),
        wrapped(f"{counted(len(done.drafts), 'question')} investigated at their time: {done.investigator}"),
        "",
        *(_figure(_WHAT[name], share) for name, share in done.shares.items() if share.of),
        f"  {'not known whether right':<42}{standings[Standing.UNKNOWN]:>6,}",
        *_own(done),
        f"  {'cost of all':<42}{dollars(done.cost_usd):>6}",
        f"  {'time of a question, the median':<42}{seconds(middle(one.seconds for one in done.drafts)):>6}",
    ]
    failed = [one for one in done.drafts if one.problem]
    lines += [wrapped(f"{counted(len(failed), 'question')} failed: {failed[0].problem}", lead="  ! ")] if failed else []
    lines += [*_list("Best", done.best(), done), *_list("Worst", done.worst(), done)]
    lines += ["", f"Page: {html}" if html else "Next: the same with --html OUT.html, to read and mark every message"]
    return "\n".join(lines)


def _figure(what: str, share: Share) -> str:
    low, high = share.interval
    said = f"{share.hits:>6,} of {share.of:,}  {percent(share.hits / share.of)} ({percent(low)} to {percent(high)})"
    return f"  {what:<42}{said}"


def _own(done: Backtest) -> Iterator[str]:
    """Yield what people made of the bot's own drafts of then."""
    counts = done.own_counts()
    yield from (f"  {f'its own drafts: {name}':<42}{counts[name]:>6,}" for name in _DECISIONS if name in counts)
    if counts["edited_share"] is not None:
        yield f"  {'words changed by an edit, the median':<42}{percent(counts['edited_share']):>6}"
    yield from (cut(f"    {count:,} × {one_line(why, 80)}") for why, count in counts["dismissed_because"].items())


def _list(title: str, drafts: Sequence[PastDraft], done: Backtest) -> Iterator[str]:
    asked = {one.event.message_id: one.question.content for one in done.heard if one.question}
    yield from ["", title] if drafts else []
    for one in drafts[:NAMED]:
        yield cut(f"  - {one_line(asked.get(one.message_id, one.thread_id), 80)}")
        cites = ", ".join(cite.ref for cite in one.cites[:2]) or "no draft"
        yield cut(f"    {cites}; known: {one.known[0][0]} ({one.known[0][1]})")
