"""Tells a message after which nobody needs an answer any more: "never mind", "found it", "that worked, thanks".

Pure rules over the word lists, beside the classifier and without a say in its table. A question is never one, nor is
thanks in advance. What is missed costs nothing: the message is shown on the card all the same.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from bot.intake import prose
from bot.intake.keywords import Keywords
from bot.intake.lexicon import shipped
from bot.intake.rules import Matchers, Rules

MAX_CHARS: Final = 300
MAX_THANKS_CHARS: Final = 60


def settles(content: str, rules: Rules) -> bool:
    """Return whether a message that is no question says that its writer has what they need.

    >>> settles("never mind, found it", Rules()), settles("thanks, but it still fails", Rules())
    (True, False)
    """
    seen = prose.visible(content)
    words = prose.own_words(seen)
    if len(seen) > MAX_CHARS:
        return False
    kinds = _keywords(tuple(rules.languages)).kinds_in(words)
    return "unsettled" not in kinds and ("settled" in kinds or _is_thanks(seen, rules.matchers))


def _is_thanks(seen: str, matchers: Matchers) -> bool:
    """Whether a short message is nothing but thanks, politeness aside."""
    core = prose.without_trailer(prose.without_names(seen).lower())
    if len(core) > MAX_THANKS_CHARS or not matchers.ack.fullmatch(core):
        return False
    return _inside(matchers.thanks.pattern).search(core) is not None


@lru_cache(maxsize=16)
def _keywords(languages: tuple[str, ...]) -> Keywords:
    return Keywords({kind: shipped(languages, kind) for kind in ("settled", "unsettled")})


@lru_cache(maxsize=16)
def _inside(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})")
