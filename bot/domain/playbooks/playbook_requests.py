"""What a message that mentions the bot wants changed in a playbook: add, remove or move one task, or nothing. Pure.

Conservative, because a message taken for a wish is not investigated: only an order that begins with its verb and names
how often, or says that it is for good ("from now on"), is one. A question stays a question. The words are a stranger's:
they are only ever data, and become a task through `plain_text`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from bot.domain.playbooks.playbook_entries import plain_text
from bot.domain.tables import Alternatives, Parts, fill, read_table
from bot.domain.tiers import Tier
from bot.errors import InputError

MAX_CHARS: Final = 400

_TOKEN: Final = re.compile(r"<([@#!])[^<>\n]*>")
_LINK: Final = re.compile(r"<((?:https?)://[^<>|\s]+)(?:\|[^<>\n]*)?>")
_MARKS: Final = re.compile(r"[?？؟]")
_SPAN: Final = re.compile(r"`[^`\n]*`")
_PLEASE: Final = re.compile(
    r"^(?:(?:hey|hi|hello|ok|okay|and|also|please|pls|kindly|thanks|thank you)\b[\s,:;!.]*)+", re.IGNORECASE
)
_END: Final = re.compile(r"(?:[\s,;.!:]|\b(?:please|pls|thanks|thank you|thx)\b)+$", re.IGNORECASE)


class RequestVerb(StrEnum):
    """What is wished for; the value is what is written to disk."""

    ADD = "add"
    REMOVE = "remove"
    MOVE = "move"


@dataclass(frozen=True, kw_only=True, slots=True)
class PlaybookRequest:
    """One change. `task` is the task to write, or the words that name one; `tier` where it goes (None: removed)."""

    verb: RequestVerb
    task: str
    tier: Tier | None = None
    names: tuple[str, ...] = ()
    """The sessions named in the text, by id."""


class _PlaybookRequestsTable(NamedTuple):
    parts: Parts
    rules: tuple[tuple[RequestVerb, str], ...]
    vague: Alternatives
    asks: Alternatives
    clause: Alternatives
    runs: Alternatives
    other_times: Alternatives


_LISTS: Final = read_table(__file__, "playbook_requests.yml", _PlaybookRequestsTable)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(fill(pattern, _LISTS.parts), re.IGNORECASE)


_RULES: Final = [(verb, _compiled(rule)) for verb, rule in _LISTS.rules]
_VAGUE: Final = _compiled(_LISTS.vague)
_ASKS: Final = _compiled(rf"^(?:{_LISTS.asks})\b")
_CLAUSE: Final = _compiled(rf"\b(?:{_LISTS.clause})\b")
_RUNS: Final = _compiled(rf"\b(?:{_LISTS.runs})(?: (?:once|only|also))?$")
_OTHER_TIMES: Final = _compiled(_LISTS.other_times)
_DAILY, _QUICK = _compiled("{DAILY}"), _compiled("{QUICK}")


def parse_playbook_request(text: str, sessions: Mapping[str, str]) -> PlaybookRequest | None:
    """Return the change a message wants; None where it is not surely one. `sessions` maps ids to names.

    >>> found = parse_playbook_request("<@U0BOT> watch the CDN cache hourly from now on in shop", {"shop": "Shop"})
    >>> found and (found.verb.value, found.task, found.tier.value, found.names)
    ('add', 'Watch the CDN cache', 'hourly', ('shop',))
    >>> parse_playbook_request("<@U0BOT> why does the hourly job fail", {"shop": "Shop"})
    """
    said = _order(text)
    if said is None:
        return None
    names, bare = _sessions_in(said, sessions)
    for verb, pattern in _RULES:
        if found := pattern.fullmatch(bare):
            return _wish(verb, found.groupdict(), names)
    return None


def _order(text: str) -> str | None:
    """Return the one line of an order without the mention and courtesies; None for anything else."""
    said = _LINK.sub(r"\1", text.replace("’", "'"))
    lines = [line for line in said.strip().splitlines() if line.strip()]
    if len(lines) != 1 or len(said) > MAX_CHARS or said.lstrip().startswith(("&gt;", ">")) or "```" in said:
        return None
    start = re.match(r"\s*<@[^<>\n]*>[\s,:;-]*", said)
    said = said[start.end() :] if start else re.sub(r"[\s,]*<@[^<>\n]*>[\s.!]*$", "", said)
    if _TOKEN.search(said) or _MARKS.search(_SPAN.sub("", said)):
        return None
    said = said.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return " ".join(_END.sub("", _PLEASE.sub("", said.strip())).split()) or None


def _sessions_in(said: str, sessions: Mapping[str, str]) -> tuple[tuple[str, ...], str]:
    """Return the sessions a text names, and the text without the last "in <session>" of it."""
    words = {name.casefold(): key for key, one in sessions.items() for name in (key, one) if name}
    spoken = _SPAN.sub(" ", said).casefold()
    named: list[str] = []
    longest = sorted(words, key=len, reverse=True)
    for name in longest:
        spoken, count = re.subn(rf"(?<![\w-]){re.escape(name)}(?![\w-])", " ", spoken)
        named += [words[name]] * bool(count)
    for name in longest:
        where = rf",? (?:in|for|of|on) (?:the )?{re.escape(name)}(?:'s (?:heartbeats?|playbook))?(?= |,|$)"
        if (found := re.search(where, said, re.IGNORECASE)) and not said[: found.start()].count("`") % 2:
            said = " ".join((said[: found.start()] + said[found.end() :]).split())
            break
    return tuple(dict.fromkeys(named)), _END.sub("", said)


def _wish(verb: RequestVerb, found: Mapping[str, str | None], names: tuple[str, ...]) -> PlaybookRequest | None:
    words = (found["task"] or "").strip(" ,\"'“”")
    bare = _SPAN.sub("", words)
    if not words or _VAGUE.fullmatch(words) or _ASKS.match(words) or _OTHER_TIMES.search(bare):
        return None
    if found.get("when") and verb is RequestVerb.ADD and (_CLAUSE.search(bare) or _RUNS.search(words)):
        return None  # "check the job that runs hourly": how often something happens is not how often to look
    try:
        task = plain_text(_as_task(found.get("verb"), words) if verb is RequestVerb.ADD else words)
    except InputError:
        return None
    return PlaybookRequest(verb=verb, task=task, tier=None if verb is RequestVerb.REMOVE else _tier(found), names=names)


def _as_task(verb: str | None, words: str) -> str:
    """Return an order as a task: `watch`, `the cache` becomes `Watch the cache`."""
    plain = re.sub(r"^(?:start|keep) (watch|check|monitor|track)ing$", r"\1", verb or "", flags=re.IGNORECASE)
    said = (
        f"{plain} {words}".strip()
        if plain
        else re.sub(r"^(?:a |the )?(?:check|task) (?:for |of |to |that )", "", words)
    )
    return said[:1].upper() + said[1:]


def _tier(found: Mapping[str, str | None]) -> Tier:
    if named := found.get("tier"):
        return Tier(named.lower())
    when = found.get("when") or ""
    if _DAILY.fullmatch(when):
        return Tier.DAILY
    return Tier.QUICK if _QUICK.fullmatch(when) else Tier.HOURLY
