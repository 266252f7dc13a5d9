"""Whether a question or an alert was asked before in other words, or with other numbers. Pure, and no model.

Two are the same only if nothing telling differs: after fillers, word forms and known phrases are taken away, the words
that are left stand in the same order. An overlap of most words is not enough, for the one word that differs is the
service, the environment or the "not" (docs/decisions/twins.md). Of alerts, what differs from one occurrence to the
next is taken away, too: times, ids, hosts and plain numbers; codes, versions and customers stay.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final, NamedTuple

from bot.domain.search.report_parts import readable_text
from bot.domain.search.stack_frames import frames_in
from bot.domain.search.tokens import stem
from bot.domain.tables import Alternatives, Pattern, Words, WordSet, read_table

MAX_CHARS: Final = 8_000
"""How much of a text is compared; two longer ones are never the same unless their beginnings are."""

LEAST_WORDS: Final = 2
"""Fewer telling words ask for what only their surroundings say."""

LEAST_FRAMES: Final = 2
POD_SUFFIX_CHARS: Final = 5
"""How long the random end of a pod's name is, which may be of letters alone; that of a node of GKE has one less."""

HASH_CHARS: Final = 8
LABEL_CHARS: Final = 32
"""How far before an id the word is looked for that says whose id it is."""

_ASKING: Final = frozenset({"why", "how", "what", "when", "where", "who", "which", "often", "many", "much"})
_NOT: Final = "not"

_MARKUP: Final = re.compile(r"<[@#!][^>\n]{1,80}>|(?<!\w):[a-z][a-z0-9_+-]{1,40}:(?!\w)")
_LINK: Final = re.compile(r"<(https?://[^>|\s]{1,1000})(?:\|([^>\n]{0,300}))?>")
_ERROR: Final = re.compile(r"\b([A-Za-z][\w.]{0,80}(?:Error|Exception|Failure|Fault|Panic)): ([^\n]{8,300})")
_TIME: Final = re.compile(
    r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?)?(?:Z|\s?UTC|[+-]\d\d:?\d\d)?"
    r"|(?<![\d.:])\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?!\d)(?:\s?(?:UTC|[AaPp][Mm]\b|Z))?"
    r"(?:\s(?:on\s)?\d{4}\.\d\d\.\d\d\b)?|\b\d{4}/\d\d/\d\d\b|\b\d{4}\.\d\d\.\d\d(?=\s\d\d:\d\d)"
    r"|(?<![\d./])\d{1,2}(?:/\d{1,2}/(?:\d{4}|\d\d)|\.\d{1,2}\.\d{4})(?![\w./])"
)
_DAY: Final = r"(?:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?:day)?"
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DATE: Final = re.compile(
    rf"\b(?:{_DAY},?\s)?(?:{_MONTH}\.?\s\d{{1,2}}(?:st|nd|rd|th)?|\d{{1,2}}\.?\s{_MONTH})\b(?:,?\s20\d\d\b)?"
    rf"|\b{_DAY},?\s(?=\d{{1,2}}:\d\d)|\b(?:an?|\d{{1,4}})\s(?:second|minute|hour|day|week|month|year)s?\sago\b"
    r"|\bjust now\b",
    re.IGNORECASE,
)

_REGION: Final = re.compile(r"(?:us|eu|ap|sa|ca|me|af)-(?:north|south|east|west|central){1,2}-?\d")
_PAIR: Final = re.compile(r"(?<![\w.-])([A-Za-z_][\w.-]{0,40})=(\"[^\"\n]{0,200}\"|[^\s,;|}\])]{1,200})")
_TOKEN: Final = re.compile(r"[^\s,;!?()\[\]{}\"'’`|<>=*~“”„«»…¿¡？！。、，]+")
_CODE: Final = re.compile(r"[A-Z]{1,8}[-_]?\d{2,}")
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+){2,}[\w.+-]*|v\d[\w.+-]*|\d+\.\d+\.x")
_TAG: Final = re.compile(r"[:@](v\d[\w.+-]*|\d+\.\d+[.-][\w.+-]+)$")
"""The version of an image or a package, at the end of its name; not what was measured, as in `load:4.21`."""

_COMPARED: Final = re.compile(r"(?<![<>=!~-])(?:[<>]=?|[!=]=|[≤≥≠])(?=\s?[$€£+-]?\d|\s)")
"""A sign of comparison before a number, or before a space; no arrow and no tag."""

_QUOTED: Final = re.compile(r"^(?:[ \t]{0,8}>(?!=))+", re.MULTILINE)
_EQUALITY: Final = {"==": "equal", "!=": "unequal", "≠": "unequal"}
_ORDER: Final = {">": "above", "<": "below", ">=": "atleast", "≥": "atleast", "<=": "atmost", "≤": "atmost"}
_COMPARED_WORDS: Final = _EQUALITY | _ORDER
_PART: Final = re.compile(r"([-._/:#]?)([^-._/:#]+)")
"""A part of a name, and what stands before it."""
_NUMBERED: Final = re.compile(r"([^\W\d_]{2,20})(\d{1,4})")
"""A name with its number: `db2` is another database than `db1`; `web01` and `web17` are machines of a kind."""

_EXIT: Final = re.compile(r"\b[Ee]xit(?:ed)?(?: with)?(?: (?:status|code))?:? (\d{1,3})\b")
_NUMBER: Final = re.compile(r"[#$€£+-]?\d[\d.,:_]*(?:%|[a-z]{1,3}|/s|/min)?")

_TRACE_LINE: Final = re.compile(r"[ \t]+\S|(?:Traceback|Caused by|goroutine |at )")

_OF_US: Final = re.compile(
    r"\b(?:do|does|did|can|could|should|must|may|will) (?:i|we|you|they)\b|\b(?:how|possible|way) to\b"
)
_MAY: Final = re.compile(r"\b(?:can|could|may)\b")
_IS: Final = re.compile(r"\b(?:is|are|was|were|be|being|been|get|gets|got)\b")

_POD_END: Final = re.compile(r"-[b-df-hj-np-tv-xz2456789]{8,10}-[b-df-hj-np-tv-xz2456789]{5}(?![\w-])")
"""The end of a pod's name, of the letters and digits of which Kubernetes makes names: perhaps of letters alone."""


class TwinReason(StrEnum):
    """By what two were found to be the same."""

    WORDS = "same-words"
    FRAMES = "same-stack-frames"
    ERROR = "same-error"


class _TwinsTable(NamedTuple):
    phrases: list[tuple[str, str]]
    stop: WordSet
    greetings: WordSet
    addressees: WordSet
    vague: WordSet
    weak: WordSet
    same: list[Words]
    verbs: list[Words]
    participles: WordSet
    environments: WordSet
    kept_parts: Pattern
    kept_labels: WordSet
    identified: WordSet
    status_labels: WordSet
    statuses: WordSet
    duration_labels: WordSet
    machine_names: WordSet
    host_labels: WordSet
    id_prefixes: Words
    occurrence: WordSet
    id_keys: WordSet
    people_labels: Alternatives
    states: Words


class _Form(NamedTuple):
    """What of a text is compared; every new question is compared with that of each open one."""

    words: tuple[str, ...]
    sorted_words: tuple[str, ...]
    is_telling: bool
    pairs: frozenset[str]
    prose: frozenset[str]
    error: str
    frames: tuple[str, ...]


_LISTS: Final = read_table(__file__, "twins.yml", _TwinsTable)
_PHRASES: Final = [(re.compile(rf"\b(?:{pattern})\b"), put) for pattern, put in _LISTS.phrases]
_ONE: Final = {word: line[0] for line in _LISTS.same for word in line}
_VERBS: Final = {form: line[0] for line in _LISTS.verbs for word in line for form in (word, stem(word))} | _ONE

_ID: Final = re.compile(
    r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b|\b0x[0-9a-fA-F]{1,16}\b"
    r"|\b(?=[a-f]{0,40}\d)[0-9a-f]{7,64}\b(?![.-]?\w)"
    r"|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b|\bip-\d{1,3}(?:-\d{1,3}){3}\b"
    rf"|\b(?:{'|'.join(_LISTS.id_prefixes)})[-_#]?\d{{1,18}}\b"
)
_VAGUE: Final = {stem(word) for word in _LISTS.vague}
_OCCURRING: Final = _LISTS.host_labels | _LISTS.machine_names | _LISTS.occurrence
"""Words whose number, of one digit too, names one machine or one occurrence: `server3`, `web1`, `attempt2`."""

_PERSON: Final = re.compile(
    rf"(?:^|[·|•\n]|\s\s)[ \t*_•-]{{0,6}}(?:{_LISTS.people_labels})[ \t*_:`]{{1,6}}[^\n·|]{{1,120}}",
    re.IGNORECASE,
)
"""Who looks after one occurrence."""

_STATE: Final = re.compile(rf"\bstate\W{{1,6}}(?:{'|'.join(_LISTS.states)})\b", re.IGNORECASE)
_PLURAL_STATUS: Final = re.compile(rf"({'|'.join(_LISTS.statuses)})s|([45]xx)")


def same_reason(one: str, other: str, *, is_alert: bool = False) -> TwinReason | None:
    """Return by what two texts ask the same; None if they do not, or nothing says so.

    `is_alert`: both are alerts (a bot said it, or it pages), so numbers, times, ids and hosts do not count.

    >>> same_reason("How often do we retry a failed charge?", "Hi, how frequently do we retry failed charges?")
    <TwinReason.WORDS: 'same-words'>
    >>> same_reason("How often do we retry?", "How often do we retry in staging?") is None
    True
    """
    first, second = _form(one[:MAX_CHARS], is_alert), _form(other[:MAX_CHARS], is_alert)
    if (len(one) > MAX_CHARS or len(other) > MAX_CHARS) and len(one) != len(other):
        return None
    if first.frames and first.frames == second.frames and first.error == second.error:
        return TwinReason.FRAMES if _goes_with(first, second) else None
    if first.frames != second.frames:
        return None
    if first.is_telling and first.pairs == second.pairs and first.sorted_words == second.sorted_words:
        is_passive = not is_alert and (_is_passive_of(one, other) or _is_passive_of(other, one))
        if is_passive or _same_order(first.words, second.words):
            return TwinReason.WORDS
    if first.error and first.error == second.error and first.pairs == second.pairs and _goes_with(first, second):
        return TwinReason.ERROR
    return None


def _goes_with(one: _Form, other: _Form) -> bool:
    """Whether what stands beside an error is the same, or stands beside one of them only and names no place."""
    if one.prose == other.prose:
        return True
    more = one.prose or other.prose
    return not (one.prose and other.prose) and not any(_is_key(word) for word in more) and len(more) <= LEAST_WORDS


def _is_key(word: str) -> bool:
    return word in _LISTS.environments or word == _NOT or any(letter.isdigit() for letter in word)


def _is_telling(words: Iterable[str], pairs: Collection[str]) -> bool:
    telling = {word for word in words if word not in _ASKING and word not in _VAGUE}
    return len(telling) + len(pairs) >= LEAST_WORDS or any(len(w) >= 6 and not w.isascii() for w in telling)


def _same_order(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether the same words stand in the same order but for a part that was moved from one end to the other."""
    return one == other or (len(one) >= 4 and any(one[at:] + one[:at] == other for at in range(1, len(one))))


def _is_passive_of(passive: str, active: str) -> bool:
    """Whether the same words ask of things what others ask of us: "where are keys stored" and "where do we store keys".

    The verb alone may stand elsewhere. "Can we delete it" asks for leave, "is it deleted" for a fact.
    """
    passive, active = (_without_markup(text[:MAX_CHARS]).casefold() for text in (passive, active))
    asked = _OF_US.search(active)
    if asked is None or _OF_US.search(passive) or not _IS.search(passive):
        return False
    at, words = len(_words(active[: asked.end()], is_alert=False)), _words(active, is_alert=False)
    if at == 0 and bool(_MAY.search(asked[0])) != bool(_MAY.search(passive)):
        return False
    verb, rest = words[at : at + 1], words[:at] + words[at + 1 :]
    told = _words(passive, is_alert=False)
    if not any(told[at : at + 1] == verb and told[:at] + told[at + 1 :] == rest for at in range(len(told))):
        return False
    forms = (token for token in _asked_plainly(passive).split() if [_word(token, is_alert=False)] == verb)
    return any(form.endswith("ed") or form in _LISTS.participles for form in forms)


@lru_cache(maxsize=2_048)
def _form(text: str, is_alert: bool) -> _Form:
    text = _without_markup(text)
    frames = tuple(f"{frame.path}:{frame.function}" for frame in frames_in(text))
    frames = frames if len(frames) >= LEAST_FRAMES else ()
    found = _ERROR.search(text)
    error = f"{found[1]} {' '.join(_words(found[2], is_alert=True))}" if found else ""
    beside = text.replace(found[0], " ") if found else text
    if frames:
        beside = "\n".join(line for line in beside.splitlines() if not _TRACE_LINE.match(line))
    if is_alert:
        text = _STATE.sub(" ", _PERSON.sub("\n", text))
    pairs, rest = _pairs(text) if is_alert else (frozenset[str](), text)
    prose = frozenset(_words(beside, is_alert=is_alert)) - _LISTS.weak
    words = tuple(_words(rest, is_alert=is_alert))
    return _Form(words, tuple(sorted(words)), _is_telling(words, pairs), pairs, prose, error, frames)


def _without_markup(text: str) -> str:
    text = _LINK.sub(lambda link: link[2] or link[1], _MARKUP.sub(" ", unicodedata.normalize("NFKC", text)))
    return _COMPARED.sub(lambda sign: f" {_COMPARED_WORDS[sign[0]]} ", _QUOTED.sub("", readable_text(text)))


def _pairs(text: str) -> tuple[frozenset[str], str]:
    """Return `key=value` of an alert without what names one occurrence, in any order, and the text without them."""
    pairs = set()
    for key, value in _PAIR.findall(text):
        name = key.casefold()
        words = _words(f"{name} {value}", is_alert=True)[name not in _LISTS.occurrence :]
        is_id = re.split(r"[_.-]", name)[-1] in _LISTS.id_keys and _label(name) not in _LISTS.identified
        if words and not is_id:
            pairs.add(f"{name}={' '.join(words)}")
    return frozenset(pairs), _PAIR.sub(" ", text)


def _words(text: str, *, is_alert: bool) -> list[str]:
    """Return the telling words of a text, each in one form."""
    if is_alert:
        text = _EXIT.sub(r"exit \1", text)
        text = _without_ids(_POD_END.sub("-0", _DATE.sub(" ", _TIME.sub(" ", text))))
    spelled = [token for found in _TOKEN.findall(text) if (token := found.strip(".:/-&_"))]
    folded = " ".join(token if is_alert and _CODE.fullmatch(token) else token.casefold() for token in spelled)
    if not is_alert:
        folded = _asked_plainly(text.casefold())
    tokens = [token for found in folded.split() if (token := found.strip(".:/-&_"))]
    tokens = _without_greetings(tokens)
    return [word for token in (_masked(tokens) if is_alert else tokens) if (word := _word(token, is_alert))]


def _without_ids(text: str) -> str:
    """Return a text without ids, but for those of customers and of error codes (`error 0x80070005`)."""

    def kept(found: re.Match[str]) -> str:
        label = _label(text[max(0, found.start() - LABEL_CHARS) : found.start()])
        is_kept = label in _LISTS.identified and "." not in found[0]
        return found[0] if is_kept or (label in _LISTS.kept_labels and found[0].startswith("0x")) else " "

    return _ID.sub(kept, text)


def _label(before: str) -> str:
    """Return of what an id or a number is that stands behind a text: `customer` behind "for customer_id="."""
    words = [word for word in re.split(r"[^a-z]+", before.casefold()) if word]
    if len(words) > 1 and words[-1] in _LISTS.id_keys:
        words.pop()
    return words[-1].removesuffix("id") if words else ""


def _without_greetings(tokens: list[str]) -> list[str]:
    """Return the words of a text without those of politeness at its ends."""
    start, end = 0, len(tokens)
    while start < end and (tokens[start] in _LISTS.greetings or (start and tokens[start] in _LISTS.addressees)):
        start += 1
    while end > start and (
        tokens[end - 1] in _LISTS.greetings
        or (end - start > 1 and tokens[end - 1] in _LISTS.addressees and tokens[end - 2] in _LISTS.greetings)
    ):
        end -= 1
    return tokens[start:end]


def _asked_plainly(text: str) -> str:
    text = text.replace("’", "'")
    for pattern, put in _PHRASES:
        text = pattern.sub(put, text)
    return " ".join(_TOKEN.findall(text))


def _word(token: str, is_alert: bool) -> str:
    """Return a word's one form, "" for one that tells nothing."""
    if token in _LISTS.stop or (is_alert and token in _LISTS.occurrence):
        return ""
    forms = _ONE if is_alert else _VERBS
    known = forms.get(token)
    if known is not None or any(letter.isdigit() for letter in token) or not token.isalpha():
        return known or token
    rooted = stem(token)
    return forms.get(rooted, rooted)


def _masked(tokens: Sequence[str]) -> list[str]:
    """Return the words of an alert without hosts and plain numbers."""
    kept: list[str] = []
    for at, token in enumerate(tokens):
        before, after = _word_before(tokens, at), tokens[at + 1] if at + 1 < len(tokens) else ""
        if not any(letter.isdigit() for letter in token):
            kept.append(token)
        elif before in _LISTS.host_labels:
            kept += _host_parts(token, is_host=True)
        elif _is_name(token) or token.startswith("0x") or _label(" ".join(tokens[:at][-2:])) in _LISTS.identified:
            kept.append(token)
        elif (status := _PLURAL_STATUS.fullmatch(token)) and before not in _LISTS.duration_labels:
            kept.append(status[1] or status[2])
        elif _NUMBER.fullmatch(token):
            labels = re.split(r"[_.-]", before)
            beside = {stem(word) for word in (*labels, after)}
            is_status = token in _LISTS.statuses and not beside.isdisjoint(_LISTS.status_labels)
            kept += [token] * (is_status or labels[-1] in _LISTS.kept_labels)
        else:
            kept += _host_parts(token)
    return kept


def _word_before(tokens: Sequence[str], at: int) -> str:
    """Return the word before another one: of a number that something is or is not, the word before `==` or `!=`."""
    signs = _COMPARED_WORDS if tokens[at] in _LISTS.statuses else _EQUALITY
    if at and tokens[at - 1] in signs.values():
        at -= 1
    return tokens[at - 1] if at else ""


def _is_name(token: str) -> bool:
    """Whether a word with a number names a thing: an error code, a version, a percentile."""
    return any(pattern.fullmatch(token) for pattern in (_CODE, _VERSION, _LISTS.kept_parts))


def _host_parts(token: str, *, is_host: bool = False) -> list[str]:
    """Return what names all machines of a kind: `checkout` of `checkout-7d9f8b6c5-x2x4z`."""
    region = _REGION.search(token)
    named = _PART.findall(_REGION.sub("", token))
    parts = [part for _, part in named]
    first = next((at for at, part in enumerate(parts) if any(letter.isdigit() for letter in part)), len(parts))
    behind = [
        part
        for at, part in enumerate(parts[first:], first)
        if (part.isalpha() and not (named[at][0] == "-" and _is_random_end(parts, at)))
        or _LISTS.kept_parts.fullmatch(part)
    ]
    numbered = _NUMBERED.fullmatch(parts[first]) if first < len(parts) else None
    if first and first < len(parts) and parts[first - 1] in _LISTS.identified:
        behind.insert(0, parts[first])
    elif numbered and not (first and len(parts[first]) == POD_SUFFIX_CHARS):
        is_thing = not is_host and len(numbered[2]) == 1 and numbered[1] not in _OCCURRING
        behind.insert(0, parts[first] if is_thing else numbered[1])
    tag = _TAG.search(token)
    return [*parts[:first], *behind, *([region[0]] if region else []), *([tag[1]] if tag else [])]


def _is_random_end(parts: Sequence[str], at: int) -> bool:
    """Whether a part without a number is the random end of the name of a pod or a node, behind a hash."""
    before = parts[at - 1] if at else ""
    is_node = at + 1 == len(parts) and len(before) >= HASH_CHARS
    is_hash = len(before) >= POD_SUFFIX_CHARS and not before.isalpha()
    return is_hash and len(parts[at]) in (POD_SUFFIX_CHARS, POD_SUFFIX_CHARS - is_node)
