"""Makes foreign text inert, and our own times the reader's. Pure.

After `escape` no `<` is left but that of a known user's mention, so no broadcast, group or link can hide in it. A
time's token is made after all foreign text beside it was escaped; `escape` would show it as text.
Source: https://docs.slack.dev/messaging/formatting-message-text (& < > are control characters; <!…> broadcasts, <@…>
mentions, <url|label> links, <!date^…> times).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Final

ZERO_WIDTH: Final = "\u200b"
"""Put between two characters, it keeps them apart for Slack and stays unseen."""

_MENTION = re.compile(r"<@([UW][A-Z0-9]{1,20})(?:\|([^<>|\n]{0,80}))?>")
_SHOUT = re.compile(r"(?<![A-Za-z0-9])@(?=(?:channel|here|everyone|group)(?![A-Za-z0-9]))", re.IGNORECASE)
_USER_INFO = re.compile(r"(?<=https:)(?=//[^\s/@<>]{1,200}@)|(?<=http:)(?=//[^\s/@<>]{1,200}@)", re.IGNORECASE)
_TICKS = re.compile(r"`{3,}")


def escape_controls(text: str) -> str:
    """Return `text` with Slack's three control characters as entities.

    >>> escape_controls("a < b && c")
    'a &lt; b &amp;&amp; c'
    """
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape(text: str, known_users: Collection[str] = ()) -> str:
    """Return plain text as mrkdwn that shows it: controls escaped, broadcasts defused, unknown mentions named.

    An address that names another host before its `@` becomes no link.

    >>> escape("<!channel> <@U012AB> & <@U9XYZ|eve>", known_users={"U012AB"})
    '&lt;!channel&gt; <@U012AB> &amp; @eve'
    """
    parts, done = [], 0
    for match in _MENTION.finditer(text):
        user, name = match.groups()
        shown = f"<@{user}>" if user in known_users else escape_controls(f"@{name or user}")
        parts += [escape_controls(text[done : match.start()]), shown]
        done = match.end()
    return disarm_mentions(_USER_INFO.sub(ZERO_WIDTH, "".join(parts) + escape_controls(text[done:])))


def disarm_mentions(text: str) -> str:
    r"""Return `text` with the words that Slack may expand to a broadcast kept apart from their `@`.

    >>> disarm_mentions("@here me@here.com")
    '@\u200bhere me@here.com'
    """
    return _SHOUT.sub(f"@{ZERO_WIDTH}", text)


def part_ticks(text: str) -> str:
    """Return `text` with runs of three or more backticks kept apart, so that they open or close no code block."""
    return _TICKS.sub(lambda run: ZERO_WIDTH.join(run[0]), text)


def link_target(url: str) -> str | None:
    """Return a web or mail address as it may stand in `<address|label>`; None for anything else, `!channel` included.

    >>> link_target("https://x.io/?a=1&b=|"), link_target("javascript:alert(1)")
    ('https://x.io/?a=1&amp;b=%7C', None)
    """
    if not re.match(r"(?:https?://|mailto:)[^\s]", url, re.IGNORECASE):
        return None
    for char, code in (("<", "%3C"), (">", "%3E"), ("|", "%7C"), (" ", "%20"), ("`", "%60"), ("\n", "%0A")):
        url = url.replace(char, code)
    return escape_controls(_SHOUT.sub("%40", url))


FENCE: Final = "```"


def fence(code: str) -> str:
    r"""Return `code` (raw text) as a code block.

    >>> fence("if a < b:\n    pass\n")
    '```\nif a &lt; b:\n    pass\n```'
    """
    body = code.removesuffix("\n")
    return f"{FENCE}\n{disarm_mentions(part_ticks(escape_controls(body)))}\n{FENCE}"


def prefix_lines(text: str, prefix: str, first: str | None = None) -> str:
    """Return `text` with `prefix` before each line but those of code blocks; `first` replaces it on the first line."""
    lines, fenced = [], False
    for number, line in enumerate(text.split("\n")):
        edge = line.startswith(FENCE)
        before = prefix if number or first is None else first
        lines.append(line if fenced or edge else (before + line).rstrip() if not line else before + line)
        fenced ^= edge
    return "\n".join(lines)


_OURS: Final = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|<[^<>\n]*>|^>[^\n]*$"  # code, Slack's tokens, quotations: they stay as they are
    r"|(?<![\w:.-])(\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?) UTC(?!\w)",
    re.DOTALL | re.MULTILINE,
)
_FORM: Final = "{date_short_pretty} {time}"


def local_time(at: datetime) -> str:
    """Return a moment as the reader's clock shows it, today as a word; where Slack cannot, in UTC.

    >>> local_time(datetime(2026, 11, 21, 3, 12, tzinfo=UTC))
    '<!date^1795230720^{date_short_pretty} {time}|2026-11-21 03:12 UTC>'
    """
    return f"<!date^{int(at.timestamp())}^{_FORM}|{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC>"


def with_local_times(mrkdwn: str) -> str:
    """Return a sentence of ours, escaped already, whose times (`2026-11-21 03:12 UTC`) are the reader's.

    The sentences that Slack and the terminal share say each time in that one form (`bot.domain.moments.utc_text`).
    What is no time stays as it stands, and so does what is quoted, or stands in code, where Slack shows no token.

    >>> with_local_times("paused since 2026-11-21 03:12 UTC")
    'paused since <!date^1795230720^{date_short_pretty} {time}|2026-11-21 03:12 UTC>'
    """
    return _OURS.sub(_local, mrkdwn)


def _local(found: re.Match[str]) -> str:
    if found[1] is None:
        return found[0]
    try:
        return local_time(datetime.fromisoformat(found[1]).replace(tzinfo=UTC))
    except (ValueError, OverflowError, OSError):
        return found[0]
