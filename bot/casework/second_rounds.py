"""What the rounds of threads came to: first verdicts, bounces and whether they helped, citations found false. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from bot.casework.measure import Window
from bot.casework.past import Past
from bot.domain.returns import Check, Verdict
from bot.domain.threads import Round, ThreadState

_CITATION: Final = re.compile(r"ref\[\d+\]\.(?:resolves|quote)")
_EVIDENCE: Final = re.compile(r"ref\[\d+\]\.|required_evidence$|grounded$")

Pair = tuple[Round, Round]


def fabrications(rounds: Iterable[Round]) -> int:
    """Return how many citations were found to be false, each once."""
    return sum(len({check.name.partition(".")[0] for check in each.checks if _is_false(check)}) for each in rounds)


def threads_of(past: Past, window: Window) -> list[ThreadState]:
    """Return the threads opened in a window."""
    return [thread for thread in past.threads if window.holds(thread.started_at)]


def first_verdicts(threads: Iterable[ThreadState]) -> list[Verdict]:
    """Return what the first round of each validated thread came to."""
    firsts = [each for thread in threads for each in thread.rounds if each.round == 1]
    return [each.validator_return.verdict for each in firsts if each.validator_return is not None]


def bounces(threads: Iterable[ThreadState]) -> list[Pair]:
    """Return every bounced first round with the round that answered it and was checked."""
    pairs = []
    for thread in threads:
        by_number = {each.round: each for each in thread.rounds}
        first, second = by_number.get(1), by_number.get(2)
        if first and second and second.checks and verdict_of(first) is Verdict.BOUNCE:
            pairs.append((first, second))
    return pairs


def is_better(pair: Pair) -> bool:
    """Whether a second draft passes every check that the first one failed, and changed what was criticised."""
    first, second = pair
    failed = {check.name for check in first.checks if check.ok is False}
    still = {check.name for check in second.checks if check.ok is False}
    return not failed & still and _changed(first, second, failed)


def _changed(first: Round, second: Round, failed: set[str]) -> bool:
    """Whether the criticised field differs; an objection of a model alone is about the draft as a whole."""
    before, after = first.investigator_return, second.investigator_return
    draft = before.draft_reply != after.draft_reply
    refs = before.evidence_refs != after.evidence_refs
    if failed and all(_EVIDENCE.match(name) for name in failed):
        return refs
    if any(name.startswith(("confidence", "risk_gate")) for name in failed):
        return draft or before.confidence != after.confidence
    return draft or refs


def verdict_of(each: Round) -> Verdict | None:
    """Return what a round came to, None where it was not validated."""
    return each.validator_return.verdict if each.validator_return else None


def _is_false(check: Check) -> bool:
    return check.ok is False and _CITATION.fullmatch(check.name) is not None
