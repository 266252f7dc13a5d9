"""What `/triage metrics` shows: one screen, the criteria first, then the counts of the week."""

from __future__ import annotations

from typing import Final

from slack_sdk.models.blocks import Block, ContextBlock, MarkdownTextObject, SectionBlock

from bot.casework.measure import Measure, dollars, percent, seconds
from bot.casework.metrics import Report

_MARKS: Final = {True: ":white_check_mark:", False: ":x:", None: ":grey_question:"}


def metrics_blocks(report: Report) -> list[Block]:
    """Return the answer; every text in it is ours."""
    tally, of = report.tally, report.tally.verdicts
    lines = [
        f"messages {tally.messages:,} · threads {tally.threads:,} · long runs {tally.long_runs}",
        f"drafts: {of['pass']} pass, {of['bounce']} bounce, {of['escalate']} escalate"
        f" · {tally.fabricated} fabricated references caught",
        f"{tally.approved} approved, {tally.edited} edited, {tally.dismissed} dismissed"
        f" · to the click {seconds(tally.to_approve_s)}, to the reply {seconds(tally.to_reply_s)}"
        f" · an accepted reply cost {dollars(tally.cost_per_reply_usd)}",
        f"without a human (off): {report.unattended.false} of {report.unattended.qualified} drafts that would qualify "
        f"were changed or dismissed ({percent(report.unattended.rate)})",
    ]
    return [
        _section(f"*The last {report.window.days:.0f} days*\n" + "\n".join(map(_line, report.criteria))),
        _section("\n".join(lines)),
        ContextBlock(
            elements=[MarkdownTextObject(text="Week by week, and messages to judge: `triage metrics --help`")]
        ),
    ]


def _line(each: Measure) -> str:
    said = f" _not enough data: {each.missing}_" if each.missing else f" _{each.note}_" if each.note else ""
    return f"{_MARKS[each.ok]} {each.name} {each.what}: *{each.shown}* ({each.target}; n {each.n:,}){said}"


def _section(text: str) -> Block:
    return SectionBlock(text=MarkdownTextObject(text=text))
