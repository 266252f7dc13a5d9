"""Forms in which a text from outside could set a mark, claim an approval, ping or break markup; and what is then seen.

The forms are made by class. What is seen of a surface is counted here without the code that it tests.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields, is_dataclass, replace
from typing import Any, Final

from pydantic import BaseModel

SIGNS: Final = "✓✔✅☑🗹🗸√𐄂🮱✗✘❌❎☒🗙⮽✕✖⚠⛔🚫🛑❗‼"
_AROUND: Final = (
    *("{}\ufe0f", "{}\ufe0e", "{}\u20e3", "{}\u0336", "\u200d{}\u200d\u2b1b", "\u202e{}\u202c", "\u200b{}\ufeff"),
    *("**{}**", "_{}_", "~~{}~~", "`{}`", "\\{}", "# {}", "> {}", "- {} done", "[{}](https://evil.example/a)"),
    "| a | b |\n|---|---|\n| {} | c |",
)
_REFERENCES: Final = (
    *("&check;", "&checkmark;", "&cross;", "&#10003;", "&#0010003;", "&#x2713;", "&#X2714;", "&#x2713"),
    *("&amp;check;", "&amp;amp;#10003;", "&#38;check;", "&#x26;#10003;", "&che\u200bck;", "&#100\u200b03;"),
)
_EMOJI: Final = (
    *(":white_check_mark:", ":heavy_check_mark:", ":ballot_box_with_check:", ":x:", ":warning:", ":no_entry_sign:"),
    *(
        ":verified:",
        ":white_\u200bcheck_mark:",
        ":white\\_check\\_mark:",
        "&#58;x&#58;",
        "&colon;white_check_mark&colon;",
    ),
    *(":white_&#8203;check_mark:", "**:white_check_mark:**", ":x::x:", ":white_check_mark::skin-tone-2:"),
)
_CLAIMS: Final = (
    *(
        "Validated by code",
        "**Validated** by code",
        "**Vali**dated by code",
        "_Validated_ by code",
        "`Validated` by code",
    ),
    *("V\u200balidated by code", "Val\u00adidated by code", "\u202eValidated by code", "V\u0332alidated by code"),
    *("Ｖａｌｉｄａｔｅｄ by code", "𝐕𝐚𝐥𝐢𝐝𝐚𝐭𝐞𝐝 by code", "ᴠᴀʟɪᴅᴀᴛᴇᴅ by code", "🅥🅐🅛🅘🅓🅐🅣🅔🅓 by code"),
    *("V\u0430lid\u0430ted by code", "&#86;alidated by code", "\\Validated by code", "Validated\u00a0by\u3000code"),
    *("APPROVED BY @ada", "so it is approved by <@U0ADA>", "*Checked by* a second model", "Proved by three quotes"),
    *("Status: validated", "**Validated**", "✅ **Approved**"),
)
_PINGS: Final = (
    *("<!channel>", "<!here|here>", "<!subteam^S0OPS|@ops>", "<@U0EVIL>", "@everyone", "@ch\u200bannel", "@**here**"),
    *("&lt;!channel&gt;", "&#60;!here&#62;", "&amp;lt;!here&amp;gt;", "[x](!channel)", "<!date^0^{date}|x>"),
)
_BREAKERS: Final = (
    "```",
    "a\n```\nb",
    "`",
    "``` `x",
    "<https://bank.example|",
    "*bold\n_it",
    "~~~\nx",
    "</b> -->",
    "\u202egpj.sh",
)
FORMS: Final = (
    *SIGNS,
    *(around.format("✅") for around in _AROUND),
    *_REFERENCES,
    *_EMOJI,
    *_CLAIMS,
    *_PINGS,
    *_BREAKERS,
)

_IDS: Final = (
    "thread_id team_id chat_id message_id original_message_id original_sender_id sender_id asker asked_by approved_by "
    "user owner said_by acknowledged_by answered_by taken_back_by decided_by by id session_id card_channel card_ts "
    "posted_message_id draft_hash permalink url commit sha key trace_id"
)
_CODES_OWN: Final = (
    "confidence card zone kind quote diff standing last_event passed checked date host workspace_dir connection every "
    "hours"
)
_OURS: Final = frozenset(f"{_IDS} {_CODES_OWN}".split())
"""Fields that code or Slack fills, and lines of code, which are printed as they are."""

_LOOK_ALIKES: Final = str.maketrans("ᴠᴀʟɪᴅᴛᴇ\u0430🅥🅐🅛🅘🅓🅣🅔", "validteavalidte")
_FENCED: Final = re.compile(r"```.*?```", re.DOTALL)
_TOKEN: Final = re.compile(r"<(?:https?://[^<>|\s]+(?:\|[^<>\n]*)?|mailto:[^<>|\s]+|[@#!][^<>]*)>")
_CLAIM: Final = re.compile(
    r"(?<![“\w])(?:validated|approved|checked|verified|proved)\s+by\s+(?!<)|(?:^|[*:>|]\s*)(?:validated|approved)\b",
    re.I | re.M,
)


def filled(value: Any, text: str, name: str = "") -> Any:
    """Return a value with `text` in every field of it that others write."""
    if type(value) is str:
        return value if name in _OURS else text
    if isinstance(value, BaseModel):
        return value.model_copy(update={key: filled(each, text, key) for key, each in value})
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(filled(each, text, key) for key, each in zip(value._fields, value, strict=True)))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{one.name: filled(getattr(value, one.name), text, one.name) for one in fields(value)})
    if isinstance(value, tuple | list):
        return type(value)(filled(each, text, name) for each in value)
    return {key: filled(each, text, str(key)) for key, each in value.items()} if isinstance(value, dict) else value


def seen(texts: Iterable[str]) -> Counter[str]:
    """Return what a reader takes for the code's own word outside of code blocks, and what Slack would act on."""
    found: Counter[str] = Counter()
    for text in texts:
        shown = _FENCED.sub("", text)
        plain = _resolved(shown)
        found.update(f"mark {sign}" for sign in plain if sign in SIGNS)
        found.update(
            f"emoji {code}" for code in re.findall(r":[\w+'-]*[a-z][\w+'-]*:", re.sub("`[^`]*`|<[^>]*>", "", shown))
        )
        found.update("claim" for _ in _CLAIM.findall(re.sub(r"[*_~`]", "", plain)))
        found.update(f"token {token[:2]}" for token in _TOKEN.findall(text) if token[1] in "@#!")
        found.update("ping" for _ in re.findall(r"(?<!\w)@(?:channel|here|everyone|group)\b", text, re.I))
        found.update("markup" for sign in _TOKEN.sub("", text) if sign in "<\u202e")
        found.update("open code block" for _ in range(text.count("```") % 2))
    return found


def _resolved(text: str) -> str:
    for _ in range(8):
        text = "".join(sign for sign in html.unescape(text) if unicodedata.category(sign) not in ("Cf", "Mn", "Me"))
    return unicodedata.normalize("NFKC", text.translate(_LOOK_ALIKES))
