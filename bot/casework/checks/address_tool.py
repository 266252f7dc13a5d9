"""The validator's `read_file`: it takes one address and shows what stands there, whatever the address is of.

What it showed stands in the validator's own ledger, where the rules look up whether a spot check was made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Final

from pydantic import Field

from bot.agent.ledger import Ledger
from bot.agent.tools.base import MAX_PATH_CHARS, Arguments, Line, Tool, ToolProblem, fitting, number, quote_line
from bot.casework.checks.addresses import CALL_LINES, resolve
from bot.casework.checks.sources import Lines, Missing, Sources
from bot.domain.citations.citation_lines import MAX_LINES, parse_lines
from bot.domain.returns import EvidenceKind, EvidenceRef
from bot.domain.secrets import redact_patch
from bot.errors import ProviderError, StoreError

MAX_PATCH_LINES: Final = 400
DESCRIPTION: Final = (
    "Open an address: lines of a file (path:start-end), a commit (its id), lines of a tool result of the investigator "
    f"(call:start-end), lines of a note (memory/name.md:start-end). At most {MAX_LINES} lines at once."
)
_COMMIT: Final = re.compile(r"[0-9a-f]{7,64}")
_NOTE: Final = re.compile(r"memory/.+\.md(?::[0-9-]+)?")


class OpenAddress(Arguments):
    """What to open."""

    address: Annotated[Line, Field(max_length=MAX_PATH_CHARS, description="One address, as the citations write it.")]


def address_tool(refs: Sequence[EvidenceRef], sources: Sources, ledger: Ledger) -> Tool:
    """Return the tool over the sources of a draft; `refs` are its citations, `ledger` is of whoever calls it.

    A file that the draft cites is opened at the commit that it was read at, any other one at HEAD.
    """
    call = partial(_open, refs, sources, ledger)
    return Tool(name="read_file", description=DESCRIPTION, call=call, arguments=OpenAddress)


def was_opened(ref: EvidenceRef, sources: Sources, ledger: Ledger) -> bool | None:
    """Whether the tool showed all lines of a citation to the run of this ledger; None where nobody can open it."""
    found = resolve(ref, sources)
    return ledger.covers(found.source, found.start, found.end) if isinstance(found, Lines) else None


def _open(refs: Sequence[EvidenceRef], sources: Sources, ledger: Ledger, given: OpenAddress) -> str:
    ref = _ref(given.address.strip(" `"), refs, sources)
    try:
        found = resolve(ref, sources)
    except (ProviderError, StoreError) as error:
        raise ToolProblem("read_file failed; open another address") from error
    if isinstance(found, Missing):
        raise ToolProblem(found.why)
    text = "\n".join(found.lines)
    ledger.record_read(found.source, found.start, found.end, commit=found.commit or "", text=text)
    return "\n".join([_heading(found), *map(number, found.shown, range(found.start, found.end + 1)), *_rest(found)])


def _ref(address: str, refs: Sequence[EvidenceRef], sources: Sources) -> EvidenceRef:
    """Return an address as the citation that it would be; what the draft itself cites so, as it cites it."""
    same = next((ref for ref in refs if ref.ref == address), None)
    if same is not None:
        return same
    if CALL_LINES.fullmatch(address):
        return EvidenceRef(kind=EvidenceKind.LOG_QUERY, ref=address)
    if _COMMIT.fullmatch(address):
        return EvidenceRef(kind=EvidenceKind.GIT_COMMIT, ref=address)
    if _NOTE.fullmatch(address):
        return EvidenceRef(kind=EvidenceKind.MEMORY, ref=address)
    return EvidenceRef(kind=EvidenceKind.FILE, ref=address, commit=_commit(address, refs, sources))


def _commit(address: str, refs: Sequence[EvidenceRef], sources: Sources) -> str | None:
    cited = parse_lines(address)
    if cited is None:
        return None
    of_draft = (ref for ref in refs if ref.kind is EvidenceKind.FILE and ref.commit)
    known = (ref.commit for ref in of_draft if (other := parse_lines(ref.ref)) and other.path == cited.path)
    return next(known, None) or sources.read_at(cited)


def _heading(found: Lines) -> str:
    at = f" at {found.commit[:12]}" if found.commit and found.path else ""
    what = found.place or found.about or (f"result of {found.tool}" if found.tool else "")
    more = f"\ncaution: {found.caution}" if found.caution else ""
    return f"{found.source} lines {found.start}-{found.end}{at}{f', {what}' if what else ''}{more}"


def _rest(found: Lines) -> list[str]:
    """Return a commit's patch behind its message."""
    patch = redact_patch("\n".join(found.extra), ()).split("\n") if found.extra else []
    kept = fitting([quote_line(line) for line in patch], max_lines=MAX_PATCH_LINES)
    return [*kept, f"truncated: {len(kept)} of {len(patch)} lines shown"] if len(kept) < len(patch) else kept
