"""Everything a person can read in a Slack message, and which images it shows. Pure.

Text, blocks, attachments, forwarded messages and previews of files become lines of Slack's mrkdwn: code in backticks,
quotes as `> `, points with their marks. What a message says twice stands once; previews of web pages are left out,
because Slack adds and removes them later. Time is proportional to the message; depth and length are bounded.
Sources: https://docs.slack.dev/reference/block-kit/blocks, https://docs.slack.dev/reference/objects/file-object,
https://docs.slack.dev/reference/objects/attachment-object, and `slack_sdk.models`
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeGuard

from bot.domain.secrets import redact
from bot.domain.text.sanitize import storable
from bot.intake.classifier import scorer

MAX_CHARS: Final = 50_000
MAX_READ_CHARS: Final = 100_000
"""So much is read before credentials are blacked out; the rest is cut after that."""

MAX_IMAGES: Final = 20
_MAX_DEPTH: Final = 16
_MAX_FORWARDS: Final = 3
_MAX_ITEMS: Final = 1_000
_MAX_NUMBER: Final = 10**15

Message = Mapping[str, Any]

_CONTROLS: Final = frozenset({"actions", "context_actions", "button", "workflow_button", "overflow"})
_SHOWN: Final = (
    *("pretext", "author_name", "title", "rich_text_title", "subtitle", "label", "caption", "text", "name"),
    *("description", "body", "fields", "elements", "child_blocks", "tasks", "details", "output", "sources"),
    *("file", "call", "v1", "preview", "content", "value", "alt_text", "accessory", "blocks", "footer"),
)
"""Where blocks and attachments of all kinds keep what they show, in the order in which it is shown."""

_INLINE: Final = {
    "user": ("user_id", "<@{}>"),
    "channel": ("channel_id", "<#{}>"),
    "usergroup": ("usergroup_id", "<!subteam^{}>"),
    "broadcast": ("range", "<!{}>"),
    "emoji": ("name", ":{}:"),
    "date": ("fallback", "{}"),
    "link": ("url", "<{}>"),
}
"""Of a piece of rich text, the key and how Slack writes its value into `text`."""

_PLACEHOLDERS: Final = frozenset(
    {"this content can't be displayed", "this message contains interactive elements", "no preview available"}
)
_FORWARDS: Final = ("is_share", "is_msg_unfurl", "message_blocks")
_PREVIEWS: Final = ("from_url", "original_url", "app_unfurl_url", "is_app_unfurl")
_FILE_ID: Final = re.compile(r"F[A-Z0-9]{1,63}")
_LABEL: Final = re.compile(r"(<(?:[@#!]|[a-zA-Z]{1,20}:)[^<>|]*)\|[^<>]*>")
_NO_WORDS: Final = re.compile(
    r"(?m):skin-tone-[0-9]:|&(?:amp;)*(?:amp|lt|gt);|^[ \t]*+[*_~]*+(?:[•◦▪]|(?:[0-9]{1,4}|[a-z]|[ivx]{1,6})[.)])[ \t]"
)
_WORD: Final = re.compile(r"[^\W_]+")
_MENTION: Final = re.compile(r"<@\w+(?:\|[^<>\n]*)?>")
_TAG: Final = re.compile(r"<[^<>]*>|&#[0-9]{8,}")
"""A tag of HTML, or a number that is no character and too long to be read as one."""


def read_message(message: Message) -> str:
    """Return everything a person can read in a message, without credentials, at most MAX_CHARS long.

    A forwarded message is quoted below words of the sender's own. Without any it is what the sender says, and whom it
    mentions stands in backticks.

    Raises:
        ValueError: its text is no text.

    >>> read_message({"text": "", "attachments": [{"title": "Slow", "fields": [{"title": "p99", "value": "2 s"}]}]})
    'Slow\\np99: 2 s'
    >>> read_message({"text": "why?", "attachments": [{"is_share": True, "author_name": "Ann", "text": "It fails."}]})
    'why?\\n> Ann:\\n> It fails.'
    """
    if not isinstance(message.get("text"), str | None):
        raise ValueError("event with an unusable text")  # noqa: TRY004 - a wrong payload
    own, *forwarded = map(_parts, _with_forwarded(message))
    others = ["\n".join(parts) for parts in forwarded if parts]
    words = "\n".join([*own, *(_quoted(one) if own else _unaddressed(one) for one in others)])
    return redact(storable(words[:MAX_READ_CHARS]))[:MAX_CHARS]


def image_ids(message: Message) -> tuple[str, ...]:
    """Return the ids of the images in a message and in what it forwards, at most MAX_IMAGES."""
    found: list[object] = []
    for one in _with_forwarded(message):
        found += [file.get("id") for file in _mappings(one.get("files")) if _is_image(file)]
        holders = [one, *_mappings(one.get("attachments"))]
        blocks = [block for holder in holders for block in _mappings(holder.get("blocks"))]
        found += [file.get("id") for file in _mappings([block.get("slack_file") for block in blocks])]
    return tuple(dict.fromkeys(one for one in found if isinstance(one, str) and _FILE_ID.fullmatch(one)))[:MAX_IMAGES]


def mentioned_ids(message: Message) -> tuple[str, ...]:
    """Return whom the sender mentions, each once; who is named in words of others was not addressed."""
    return scorer.mentioned_ids("\n".join(_parts(message)))


def without_previews(message: Message) -> Message:
    """Return a message without what Slack adds below links, and takes away, after it was sent."""
    attachments = _mappings(message.get("attachments"))
    kept = [one for one in attachments if one.get("is_share") or not (_is_forward(one) or _is_preview(one))]
    return {**message, "attachments": kept}


def _with_forwarded(message: Message, forwards: int = 0) -> Iterator[Message]:
    """Yield a message and those that it forwards, in the shape of messages."""
    yield message
    for one in filter(_is_forward, _mappings(message.get("attachments")) if forwards < _MAX_FORWARDS else ()):
        wrapped = _mappings([each.get("message") for each in _mappings(one.get("message_blocks"))])
        shown = {
            key: _mappings(one.get(key)) or [part for each in wrapped for part in _mappings(each.get(key))]
            for key in ("blocks", "attachments", "files")
        }
        yield from _with_forwarded({**one, **shown}, forwards + 1)


def _parts(message: Message) -> list[str]:
    """Return what a message says: text, blocks, attachments, each unless another says the same; then files."""
    attached: list[str] = []
    for one in _mappings(message.get("attachments")):
        if not _is_forward(one) and not _is_preview(one):
            attached += lines_of(one) or lines_of(_text(one, "fallback"))
    said = _undoubled([_text(message, "text"), "\n".join(lines_of(message.get("blocks"))), "\n".join(attached)])
    said += [line for one in _mappings(message.get("files")) for line in _file(one)]
    if _is_forward(message):
        said = said or lines_of(_text(message, "fallback"))
        said = [*(f"{author}:" for author in lines_of(_text(message, "author_name")) if said), *said]
    return said


def _undoubled(parts: list[str]) -> list[str]:
    """Return the parts that say something which no other says.

    The first is the text, which Slack shows beside blocks, the second, in notifications alone: its words count singly.
    """
    cut = [part[:MAX_READ_CHARS] for part in parts]
    words, kept = [_plain(part) for part in cut], list[int]()
    for place in sorted(range(len(cut)), key=lambda place: -len(words[place])):
        is_summary = place == 0 and 1 in kept and _words(cut[0]) <= _words(cut[1])
        if cut[place].strip() and not is_summary and not any(words[place] in words[other] for other in kept):
            kept.append(place)
    return [cut[place] for place in sorted(kept)]


def _plain(part: str) -> str:
    """Return the words of a part between blanks, without marks, labels of links and entities; or its marks alone."""
    bare = _NO_WORDS.sub(" ", _LABEL.sub(r"\1>", part)).casefold()
    return f" {' '.join(_WORD.findall(bare)) or bare.strip()} "


def _words(part: str) -> set[str]:
    return set(_WORD.findall(_NO_WORDS.sub(" ", part).casefold()))


def _file(one: Message) -> list[str]:
    """Return the name of a file and what Slack shows of it: prose and speech as they are, other text in a fence."""
    if _is_image(one):
        return lines_of(one.get("alt_txt"))
    title = _unaddressed(_text(one, "title") or _text(one, "name"))
    prose = _unaddressed(_text(one, "plain_text") or _text(one, "preview_plain_text"))
    code = _text(one, "preview") or html.unescape(_TAG.sub("", _text(one, "preview_highlight")))
    return [line for line in (title, prose or _fenced(code), *lines_of(one.get("transcription"))) if line.strip()]


def lines_of(content: object, depth: int = 0) -> list[str]:
    """Return what a text, an attachment, a block or a list of blocks shows, a line or a paragraph each."""
    if _is_number(content) or (isinstance(content, str) and content.strip()):
        return [str(content)]
    if not content or depth > _MAX_DEPTH:
        return []
    if isinstance(content, list):
        return [line for each in _items(content) for line in lines_of(each, depth + 1)]
    if not isinstance(content, Mapping) or "action_id" in content or str(content.get("type")) in _CONTROLS:
        return []
    return [line for line in _block(content, depth + 1) if line.strip()]


def _block(content: Message, depth: int) -> list[str]:
    match content.get("type"):
        case "rich_text_section":
            return [_pieces(content, depth)]
        case "rich_text_quote":
            return [_quoted(_pieces(content, depth))]
        case "rich_text_preformatted":
            return [_fenced(_pieces(content, depth))]
        case "rich_text_list":
            return _points(content, depth)
    shown = [line for key in _SHOWN if key in content for line in lines_of(content[key], depth)]
    match content.get("type"):
        case None if "value" in content:
            return [": ".join(shown)]
        case "context":
            return [" ".join(shown)]
        case "image" | "video" | "file":  # what is read aloud often repeats the title
            return list(dict.fromkeys(shown))
    rows = [" | ".join(" ".join(lines_of(cell, depth)) for cell in _items(row)) for row in _items(content.get("rows"))]
    return shown + rows


def _pieces(content: Message, depth: int) -> str:
    """Return a line of rich text as Slack writes it into `text`."""
    pieces = []
    for one in _mappings(content.get("elements")):
        key, form = _INLINE.get(str(one.get("type")), ("", ""))
        label, style = _text(one, "text"), one.get("style")
        if key:
            pieces.append(form.format(_text(one, key) + (f"|{html.escape(label, quote=False)}" if label else "")))
        elif isinstance(style, Mapping) and style.get("code"):
            pieces.append(f"`{label}`")
        else:
            pieces.append(label or "".join(lines_of(one, depth)))
    return "".join(pieces)


def _points(content: Message, depth: int) -> list[str]:
    """Return the points of a list, indented, with bullets or counted on from its offset."""
    indent, offset = (int(one) if _is_number(one) else 0 for one in (content.get("indent"), content.get("offset")))
    margin, is_ordered = "    " * min(max(indent, 0), _MAX_DEPTH), content.get("style") == "ordered"
    points = [" ".join(lines_of(one, depth)) for one in _mappings(content.get("elements"))]
    return [f"{margin}{f'{place}.' if is_ordered else '•'} {one}" for place, one in enumerate(points, offset + 1)]


def _unaddressed(text: str) -> str:
    """Return words of others with those whom they mention in backticks: the sender called nobody."""
    return _MENTION.sub(r"`\g<0>`", text)


def _quoted(text: str) -> str:
    return "> " + text.replace("\n", "\n> ") if text.strip() else ""


def _fenced(text: str) -> str:
    return "```\n" + text.replace("```", "'''").strip("\n") + "\n```" if text.strip() else ""


def _text(holder: Message, key: str) -> str:
    """Return a string; "" where there is none, or what Slack writes where it has nothing to show."""
    value = holder.get(key)
    found = value[:MAX_READ_CHARS] if isinstance(value, str) else ""
    return "" if found[:60].strip("[] .\n").replace("’", "'").lower() in _PLACEHOLDERS else found


def _is_image(file: Message) -> bool:
    return str(file.get("mimetype") or "").startswith("image/")


def _is_forward(attachment: Message) -> bool:
    return any(attachment.get(mark) for mark in _FORWARDS)


def _is_preview(attachment: Message) -> bool:
    return any(attachment.get(mark) for mark in _PREVIEWS)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MAX_NUMBER


def _items(content: object) -> list[Any]:
    return content[:_MAX_ITEMS] if isinstance(content, list) else []


def _mappings(content: object) -> list[Message]:
    return [one for one in _items(content) if isinstance(one, Mapping)]
