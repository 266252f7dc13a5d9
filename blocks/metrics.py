"""What `/triage metrics` shows: one screen, what misses its target first, what cannot be told yet last, small."""

from __future__ import annotations

from typing import Final

from slack_sdk.models.blocks import Block

from blocks.parts import context, section
from bot.casework.measure import Measure, dollars, percent, seconds
from bot.casework.metrics import Report

_MARKS: Final = {True: ":white_check_mark:", False: ":x:"}


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
    told = sorted((each for each in report.criteria if each.ok is not None), key=lambda each: each.ok is True)
    untold = [each for each in report.criteria if each.ok is None]
    title = f"*The last {report.window.days:.0f} days*"
    return [
        section("\n".join([title, *(map(_line, told) if told else ["_Nothing can be judged yet._"])])),
        section("\n".join(lines)),
        *([context("\n".join(["*Not enough data yet*", *map(_missing, untold)]))] if untold else []),
        context("Week by week, and messages to judge: `triage metrics --help` on the bot's machine"),
    ]


def _line(each: Measure) -> str:
    note = f" _{each.note}_" if each.note else ""
    return f"{_MARKS[bool(each.ok)]} {each.name} {each.what}: *{each.shown}* ({each.target}; n {each.n:,}){note}"


def _missing(each: Measure) -> str:
    so_far = f" ({each.shown} so far)" if each.n else ""
    return f"• {each.name} {each.what}{so_far}: {each.missing}"
