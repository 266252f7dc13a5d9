"""Outgoing text: foreign text becomes inert, our own times the reader's. Pure.

`escape` for plain text inside mrkdwn, `escape_text` for what somebody wrote in Slack, `to_mrkdwn` of
blocks/text/mrkdwn.py for Markdown (drafts): nothing that passes them sets a mark (bot/domain/text/sanitize.py). `fence`
and `code_line` show code as it stands, escaped. Then `split` or `truncate` of blocks/text/splitting.py.
Also the two blocks that nearly every view is made of: a section of mrkdwn, and a line of small print.

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

from slack_sdk.models.blocks import ContextBlock, InteractiveElement, MarkdownTextObject, SectionBlock

from blocks.text.splitting import FENCE, HEADER_CHARS, SECTION_CHARS, ZERO_WIDTH, shorten, truncate
from bot.domain.text.sanitize import part_emoji, strip_hidden, without_marks

_MENTION = re.compile(r"<@([UW][A-Z0-9]{1,20})(?:\|([^<>|\n]{0,80}))?>")
_NAMED = re.compile(r"(<(?:@[UW]|#[CG]|!subteam\^S)[A-Z0-9]{1,20}>)")
_SHOUT = re.compile(r"(?<![A-Za-z0-9])@(?=(?:channel|here|everyone|group)(?![A-Za-z0-9]))", re.IGNORECASE)
_USER_INFO = re.compile(r"(?<=https:)(?=//[^\s/@<>]{1,200}@)|(?<=http:)(?=//[^\s/@<>]{1,200}@)", re.IGNORECASE)
_TICKS = re.compile(r"`{3,}")

_OURS: Final = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|<[^<>\n]*>|^>[^\n]*$"  # code, Slack's tokens, quotations: they stay as they are
    r"|(?<![\w:.-])(\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?) UTC(?!\w)",
    re.DOTALL | re.MULTILINE,
)
_FORM: Final = "{date_short_pretty} {time}"

PIECE_CHARS: Final = 2_800
"""Of one message; Slack shows some 4,000 characters of a text, and escaping makes it longer."""

_TOKEN: Final = re.compile(r"<([@#!]?)([^<>|\n]*)(?:\|([^<>\n]*))?>")

_CODE_OR_LINE: Final = re.compile(r"^(&gt; )?(```(?s:(?:(?!```).)+)```)$|^[^\n]*$", re.MULTILINE)


def escape_controls(text: str) -> str:
    r"""Return `text` with Slack's three control characters as entities, and without characters that nobody sees.

    Those can turn the order in which a line is read, so that it shows what it does not say.

    >>> escape_controls("a < b && c"), escape_controls("x = 1 \u202e# safe")
    ('a &lt; b &amp;&amp; c', 'x = 1 # safe')
    """
    return strip_hidden(text)[0].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def escape(text: str, known_users: Collection[str] = (), *, keep_emoji: bool = False) -> str:
    """Return plain text as mrkdwn that shows it: controls escaped, broadcasts defused, unknown mentions named.

    It sets no mark and approves nothing. An address that names another host before its `@` becomes no link.

    >>> escape("<!channel> <@U012AB> & <@U9XYZ|eve>", known_users={"U012AB"})
    '&lt;!channel&gt; <@U012AB> &amp; @eve'
    """
    text = _MENTION.sub(lambda found: f"<@{found[1]}>" if found[1] in known_users else f"@{found[2] or found[1]}", text)
    text = without_marks(text, keep_emoji=keep_emoji)
    return _escape_around(text, {f"<@{user}>" for user in known_users}, keep_emoji=keep_emoji)


def answer_text(text: str) -> str:
    """Return a sentence of ours for one reader, with words of others in it; whom it names is not notified there.

    >>> answer_text("Already closed: approved by <@U1> in <#C1>. ✅ <!here>")
    'Already closed: approved by <@U1> in <#C1>. (check mark) &lt;!here&gt;'
    """
    return _escape_around(without_marks(text), set(_NAMED.findall(text)))


def _escape_around(text: str, tokens: Collection[str], *, keep_emoji: bool = False) -> str:
    """Return a text made inert but for some of Slack's tokens."""
    parts = "".join(part if part in tokens else escape_controls(part) for part in _NAMED.split(text))
    paired = "\n".join(map(_with_pairs_of_ticks, parts.split("\n")))
    return part_emoji(disarm_mentions(_USER_INFO.sub(ZERO_WIDTH, part_ticks(paired))), keep_emoji=keep_emoji)


def _with_pairs_of_ticks(line: str) -> str:
    """Return a line whose last backtick is an apostrophe if it would open code that swallows what follows."""
    before, _, after = line.rpartition("`")
    return f"{before}'{after}" if line.count("`") % 2 else line


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
    return disarm_mentions(_OURS.sub(_local, mrkdwn))  # what was `UTC@here` is no part of a word any more


def _local(found: re.Match[str]) -> str:
    if found[1] is None:
        return found[0]
    try:
        return local_time(datetime.fromisoformat(found[1]).replace(tzinfo=UTC))
    except (ValueError, OverflowError, OSError):
        return found[0]


def quote_block(text: str) -> str:
    r"""Return mrkdwn as a quotation, every line marked but those of closed code blocks: Slack would show the mark.

    Those that are quoted already lose theirs.

    >>> quote_block("one\n\ntwo\n```\ncode\n```")
    '> one\n>\n> two\n```\ncode\n```'
    """

    def quoted(found: re.Match[str]) -> str:
        mark, code = found.groups("")
        return code.replace(f"\n{mark}", "\n") or f"> {found[0]}".rstrip()

    return _CODE_OR_LINE.sub(quoted, text)


def escape_text(text: str) -> str:
    """Return a message as Slack delivered it (entities, `<@U1>`) so that it reads the same and notifies nobody.

    >>> escape_text("<@U1|eve> &lt;b&gt; <!here> <https://x.io|docs>")
    '@eve &lt;b&gt; @\u200bhere docs (https://x.io)'
    """
    spelled = _TOKEN.sub(_spell, text)
    raw = spelled.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
    return part_emoji(disarm_mentions(escape_controls(without_marks(raw))))


def quoted_line(text: str) -> str:
    r"""Return words of others, as Slack delivered them, on one line; a code fence in them would swallow what follows.

    >>> quoted_line("why `x`?\n<@U1|eve>")
    "why 'x'? @eve"
    """
    return " ".join(escape_text(text).replace("`", "'").split())


def inline_code(text: str, limit: int) -> str:
    """Return foreign words on one line of at most `limit` characters, as code; their own backticks are left out.

    >>> inline_code("a`b` <c>", limit=20)
    '`ab &lt;c&gt;`'
    """
    return f"`{escape_controls(without_marks(plain(text.replace('`', ''), limit), keep_emoji=True))}`"


def code_line(text: str, limit: int) -> str:
    """Return a line of code of at most `limit` characters as it stands; backticks, which would end it, are changed.

    >>> code_line("print('✅ <!here>', `x`)", limit=40)
    "`print('✅ &lt;!here&gt;', 'x')`"
    """
    return f"`{escape_controls(plain(text.replace('`', chr(39)), limit))}`"


def mention(one: str) -> str:
    """Return what names a user, a user group, a channel, or with `channel` everybody in the channel it is said in.

    >>> mention("U1"), mention("S1"), mention("C1"), mention("channel")
    ('<@U1>', '<!subteam^S1>', '<#C1>', '<!channel>')
    """
    if one == "channel":
        return "<!channel>"
    return {"S": f"<!subteam^{one}>", "C": f"<#{one}>", "G": f"<#{one}>"}.get(one[:1], f"<@{one}>")


def plain(text: str, limit: int = HEADER_CHARS) -> str:
    r"""Return text for a plain_text object: one line, no control characters, at most `limit` characters.

    >>> plain("Deploy\n of  api", limit=13), plain("Roll out everywhere", limit=9)
    ('Deploy of api', 'Roll out…')
    """
    return shorten(disarm_mentions(" ".join(strip_hidden(text)[0].split())), limit)


def _spell(token: re.Match[str]) -> str:
    """Return one of Slack's tokens as words."""
    sign, target, label = token.groups()
    if sign:
        name = label or target.partition("^")[0]
        return ("@" if sign == "!" else sign) + name.lstrip("@#")
    return f"{label} ({target})" if label and label != target else target


def section(
    text: str, *, block_id: str | None = None, accessory: InteractiveElement | None = None, limit: int = SECTION_CHARS
) -> SectionBlock:
    """Return a section of mrkdwn; what is too long for one is cut, and says so. Its times are the reader's."""
    shown = MarkdownTextObject(text=in_local_time(text, limit))
    return SectionBlock(text=shown, block_id=block_id, accessory=accessory)


def verbatim(text: str) -> SectionBlock:
    """Return a section of mrkdwn whose every word, times included, is somebody's and stays as it is."""
    return SectionBlock(text=MarkdownTextObject(text=truncate(text, SECTION_CHARS)))


def context(text: str) -> ContextBlock:
    """Return small print, cut as a section is. Its times are the reader's."""
    return ContextBlock(elements=[MarkdownTextObject(text=in_local_time(text))])


def in_local_time(text: str, limit: int = SECTION_CHARS) -> str:
    """Return mrkdwn of at most `limit` characters with the reader's times; in UTC where there is no room for those."""
    cut = truncate(text, limit)
    shown = with_local_times(cut)
    return shown if len(shown) <= limit else cut


def given_back(why: str, typed: str) -> list[str]:
    r"""Return the messages that say why something was refused and what was typed; `typed` is raw text.

    >>> given_back("Somebody was faster.", "It is 5.")
    ['Somebody was faster.\nYou wrote:\n```\nIt is 5.\n```']
    """
    why = truncate(answer_text(why), SECTION_CHARS)
    if not typed.strip():
        return [why]
    whole = typed.encode("utf-8", "replace").decode()
    first, *rest = (whole[start : start + PIECE_CHARS] for start in range(0, len(whole), PIECE_CHARS))
    return [f"{why}\nYou wrote:\n{fence(first)}", *map(fence, rest)]
