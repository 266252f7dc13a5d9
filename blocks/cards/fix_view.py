"""A proposed patch on the card: what it changes, its diff in a dialogue, how its pull request stands. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Final

from slack_sdk.models.blocks import Block, ButtonElement, ConfirmObject
from slack_sdk.models.views import View

from blocks import ids
from blocks.elements import actions, button, confirmation, notice
from blocks.text.outgoing_text import context, escape, fence, link_target, plain, section
from blocks.text.splitting import split, truncate
from bot.domain.fixes import Fix, FixMark, FixStatus, hash_patch
from bot.domain.patches import FixCode, patch_lines, patch_summary
from bot.domain.returns import ProposedPatch
from bot.domain.secrets import redact
from bot.domain.text.humanize import counted
from bot.domain.threads import ThreadState, ThreadStatus

SUMMARY_CHARS: Final = 600
RATIONALE_CHARS: Final = 600
SHOWN_LINES: Final = 120

REFUSAL_CHARS: Final = 600
UNSEEN_CHARS: Final = 200

ANEW: Final = frozenset({FixCode.OUTDATED, FixCode.DOES_NOT_APPLY, FixCode.NO_CHANGE})
"""What another investigation, at HEAD, may put right."""


def patch_line(patch: ProposedPatch | None, *, is_open: bool = False) -> list[Block]:
    """Return the card's line that there is a patch; nothing where there is none. `is_open`: a request proposes it."""
    if patch is None or patch.is_empty:
        return []
    said = escape(plain(patch_summary(patch), SUMMARY_CHARS))
    return [context(f":wrench: *Proposed patch*: {said}{'' if is_open else '. Not applied'}")]


def patch_blocks(patch: ProposedPatch | None, known_secrets: Collection[str] = ()) -> list[Block]:
    """Return a patch whole, as far as a dialogue has room, with why it is proposed."""
    if patch is None or patch.is_empty:
        return []
    why = escape(plain(redact(patch.rationale, known_secrets), RATIONALE_CHARS))
    head = f"*Proposed patch* · {escape(plain(patch_summary(patch, known_secrets), SUMMARY_CHARS))}"
    lines, left = patch_lines(patch, known_secrets, at_most=SHOWN_LINES)
    note = f"… {counted(left, 'more line')}; " if left else ""
    return [
        section(f"{head}{chr(10) + 'why: ' + why if why else ''}"),
        *(section(part) for part in split(fence("\n".join(lines)))),
        context(f"{note}a proposal, not applied: `triage why` on the bot's machine shows it too"),
    ]


def fix_blocks(state: ThreadState, mark: FixMark, again: ButtonElement | None) -> list[Block]:
    """Return the card's part about patches: the proposed one with its buttons, and each request that was opened.

    `again` is the button for another investigation, shown where the patch is out of date.
    """
    patch, waits = state.patch, state.status is ThreadStatus.PENDING_USER
    parts: list[Block] = (
        patch_line(patch, is_open=_has_request(mark, patch)) if waits or mark.is_offered or mark.fixes else []
    )
    parts += [context(line) for fix in mark.fixes if (line := _standing(fix))]
    if mark.problem and parts:
        parts.append(context(f":no_entry_sign: *No draft PR*: {escape(truncate(mark.problem, REFUSAL_CHARS))}"))
    if patch is not None and parts:
        refused = any(_is_about(fix, patch) and fix.refusal and fix.refusal.code in ANEW for fix in mark.fixes)
        is_outdated = refused or mark.problem is not None
        extra = [again] if again is not None and is_outdated and waits else []
        block_id = f"patch:{state.thread_id}:{hash_patch(patch)}"
        parts.append(actions(block_id, *_buttons(state, patch, mark), *extra))
    return parts


def loading_diff() -> View:
    """Return the dialogue while permission is asked: it shows nothing of the patch."""
    return notice("Proposed patch", [context("Looking up the patch …")])


def diff_modal(patch: ProposedPatch, known_secrets: Collection[str] = (), *, remark: str = "") -> View:
    """Return the dialogue with a patch; `remark` says where the rest of a long one is."""
    remarks = [context(escape(remark))] if remark else []
    return notice("Proposed patch", [*remarks, *patch_blocks(patch, known_secrets)])


def diff_fits(patch: ProposedPatch) -> bool:
    """Whether the dialogue shows a diff whole, each line to its end."""
    lines, left = patch_lines(patch, at_most=SHOWN_LINES)
    return left == 0 and not any(line.endswith("…") for line in lines)


def _buttons(state: ThreadState, patch: ProposedPatch, mark: FixMark) -> Iterator[ButtonElement]:
    value = ids.THREAD_PART.encode(ids.ThreadPart(state.thread_id, hash_patch(patch)))
    yield button("View diff", ids.VIEW_DIFF, value)
    if mark.is_offered and mark.host is None:
        yield button("Patch as a file", ids.OPEN_FIX, value)
    elif mark.is_offered:
        yield button("Open draft PR", ids.OPEN_FIX, value, confirm=_confirm(mark))


def _confirm(mark: FixMark) -> ConfirmObject:
    where = f"`{mark.codebase}` on {mark.host}" if mark.codebase else mark.host
    said = (
        f"triage checks the patch, pushes a branch to {where} and opens a draft there, with the question, its "
        "evidence and your name. Read the diff first."
    )
    return confirmation("Open a draft PR?", said, yes="Open draft PR", no="Back")


def _standing(fix: Fix) -> str:
    """Return one line on how a fix stands."""
    who = f"<@{fix.asked_by}>"
    if fix.status is FixStatus.OPENING:
        waits = escape(truncate(fix.waits or "", REFUSAL_CHARS))
        again = f" · {waits}; triage tries again by itself and opens one PR only" if waits else ""
        return f":hourglass_flowing_sand: *Opening a draft PR*, asked by {who}{again}"
    if fix.status is FixStatus.REFUSED and fix.refusal is not None:
        said = escape(truncate(fix.refusal.text, REFUSAL_CHARS), known_users=[fix.asked_by])
        return f":no_entry_sign: *No draft PR*: {said}"
    if fix.request is None:
        return ""
    target = link_target(fix.request.url)
    link = f"<{target}|#{fix.request.number}>" if target else f"#{fix.request.number}"
    if fix.status is FixStatus.MERGED:
        return f":tada: *PR {link} is merged*, opened by {who}"
    if fix.status is FixStatus.CLOSED:
        return f":wastebasket: *PR {link} was closed* without being merged, opened by {who}"
    kind = "Draft PR" if fix.request.is_draft else "PR"
    parts = [f":wrench: *{kind} {link}*, opened by {who}"]
    parts += [f":warning: {said}" for said in fix.checked if "not isolated" in said]
    if fix.unseen:
        parts.append(f":warning: how it stands now is not known: {escape(truncate(fix.unseen, UNSEEN_CHARS))}")
    return " · ".join(parts)


def _has_request(mark: FixMark, patch: ProposedPatch | None) -> bool:
    return patch is not None and any(fix.request and hash_patch(fix.patch) == hash_patch(patch) for fix in mark.fixes)


def _is_about(fix: Fix, patch: ProposedPatch) -> bool:
    return fix.status is FixStatus.REFUSED and hash_patch(fix.patch) == hash_patch(patch)
