"""What a fix says outside the chat: commit message, title and body of the pull request, the commands to type by hand.

All of it is text of a model or of a chat. In the body it stands in code blocks, where hosts obey no mention, no
`closes #1` and no `/merge`; in one line the signs that they obey are taken out. Pure.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection
from typing import Final

from bot.domain.citations.links import LinkTo
from bot.domain.fixes.fixes import Fix, hash_patch
from bot.domain.returns import EvidenceRef
from bot.domain.secrets import redact
from bot.domain.text.sanitize import one_line, strip_hidden

TITLE_CHARS: Final = 72
LINE_CHARS: Final = 300
TEXT_CHARS: Final = 2_000
_OBEYED: Final = re.compile(r"[@#](?=\w)|^/|[\[\]`<>|]")
_TICKS: Final = re.compile(r"`+")


def title_of(fix: Fix, secrets: Collection[str] = ()) -> str:
    """Return the patch's title as a commit's subject."""
    return _plain(fix.patch.title, TITLE_CHARS, secrets) or "Change what was asked for"


def commit_message(fix: Fix, secrets: Collection[str] = ()) -> str:
    """Return the commit's message: title, reason, and as trailers what it rests on and who approved it."""
    why = _plain(fix.patch.rationale, LINE_CHARS, secrets)
    reason = [textwrap.fill(f"Why: {why}", 72), ""] if why else []
    name = _plain(fix.asked_by_name, 60, secrets) or fix.asked_by
    trailers = [
        *([f"Triage-Question: {fix.permalink}"] if fix.permalink else []),
        f"Triage-Thread: {fix.thread_id}",
        f"Triage-Patch: {hash_patch(fix.patch)}",
        *(f"Triage-Evidence: {_plain_ref(ref, secrets)}" for ref in fix.evidence),
        f"Co-authored-by: {name} <{fix.asked_by}@{fix.asked_in_team}.slack.invalid>",
    ]
    return "\n".join([title_of(fix, secrets), "", *reason, *trailers]) + "\n"


def request_body(fix: Fix, link_to: LinkTo, secrets: Collection[str] = ()) -> str:
    """Return the body of the pull request."""
    asked = f"[Asked in the chat]({fix.permalink})" if fix.permalink else "Asked in the chat"
    lines = [
        f"{asked}:",
        *_fenced(fix.question, secrets),
        "",
        "**Why**",
        *_fenced(fix.patch.rationale or "The patch gives no reason.", secrets),
        "",
        "**Evidence**",
        *([f"- {_evidence_line(ref, link_to, secrets)}" for ref in fix.evidence] or ["- none"]),
        "",
        "**Checked before it was pushed**",
        *(f"- {said}" for said in fix.checked),
        "",
        f"Proposed by a model; opened by {_plain(fix.asked_by_name, 60, secrets) or fix.asked_by} through triage.",
        "",
        fix.marker,
    ]
    return "\n".join(lines) + "\n"


def commands_by_hand(fix_branch: str, commit: str, title: str) -> list[str]:
    """Return what to type to open the same by hand; `triage.patch` is the file beside it."""
    subject = title.replace("'", "")
    return [
        f"git switch -c {fix_branch} {commit}",
        "git apply --index triage.patch",
        f"git commit -m '{subject}'",
        f"git push -u origin {fix_branch}",
    ]


def _evidence_line(ref: EvidenceRef, link_to: LinkTo, secrets: Collection[str]) -> str:
    name, link = _plain_ref(ref, secrets), link_to(ref)
    claim = _plain(ref.supports_claim, LINE_CHARS, secrets)
    return f"[`{name}`]({link}){f': {claim}' if claim else ''}" if link else f"`{name}`{f': {claim}' if claim else ''}"


def _plain_ref(ref: EvidenceRef, secrets: Collection[str]) -> str:
    at = f" at {ref.commit[:10]}" if ref.commit else ""
    words = one_line(redact(ref.ref, secrets), LINE_CHARS).replace("`", "'")
    return f"{words}{at}"


def _plain(text: str, width: int, secrets: Collection[str]) -> str:
    """Return foreign words on one line, with no sign that a code host obeys."""
    return one_line(_OBEYED.sub("", redact(strip_hidden(text)[0], secrets)), width)


def _fenced(text: str, secrets: Collection[str]) -> list[str]:
    """Return text as a code block that nothing in it can close."""
    shown = redact(strip_hidden(text)[0], secrets).strip()[:TEXT_CHARS]
    ticks = "`" * max(3, 1 + max((len(run) for run in _TICKS.findall(shown)), default=0))
    return [f"{ticks}text", *shown.split("\n"), ticks]
