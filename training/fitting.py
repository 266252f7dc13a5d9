"""Fits the shipped weights, in three steps.

First a start, on conversations that nobody labelled; it is kept in start.json, so that the other steps need only the
labelled dialogues. From there English, on labelled dialogues of developer chats and on messages written for this
project. Then the other languages, on messages written for this project: only n-grams that English does not have are
learned, and the start has none of theirs, so that no language changes how another is heard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from bot.domain.events import Event, Sender
from bot.intake.classifier.classification import Rules, explain, ngrams_of
from bot.intake.classifier.scorer import Weights, read_weights
from training.conversations import FILES, Unlabelled
from training.evaluation import Scored, folds
from training.examples import Dialogue, Message, first_of_each_group, trained_languages, written_messages
from training.regression import Example, train

THRESHOLD: Final = 0.45
START: Final = Path(__file__).with_name("start.json")
_DIALOGUE_WEIGHT: Final = 3.0
_WRITTEN_WEIGHT: Final = 2.0
_ENGLISH_SPELLINGS: Final = 25
_ENGLISH_PENALTY: Final = 0.8
_OTHER_SPELLINGS: Final = 12
_SMALLEST_ENGLISH: Final = 0.3  # weights nearer to 0 do not ship
_SMALLEST_OTHER: Final = 0.6
_START_LEAST: Final = 3  # messages of each workspace that must hold an n-gram
_START_MOST_TIMES: Final = 10  # as often as in another workspace; what is said more often is one's topic
_START_SCALE: Final = 1.5  # the start is learned cautiously; labelled dialogues say that it may weigh more
_RULES: Final = Rules()
_SAID: Final = Event(
    team_id="T", chat_id="C", message_id="1.1", create_time=datetime(2025, 1, 1, tzinfo=UTC), sender=Sender(id="U")
)


def fit_start(messages: Sequence[Unlabelled]) -> Weights:
    """Return weights from conversations without labels; messages of the three kinds count alike.

    Only n-grams stay that every workspace uses about alike and no other language was trained on.
    """
    kinds = Counter(message.asking for message in messages)
    counts = {workspace: Counter[str]() for workspace in FILES}
    examples = []
    for text, workspace, asking in messages:
        ngrams = ngrams_of(text)
        counts[workspace].update(ngrams)
        weight = len(messages) / len(kinds) / kinds[asking]
        shares = ((True, asking * weight), (False, (1 - asking) * weight))
        examples += [Example(ngrams, asks, share) for asks, share in shares if share]
    found = train(examples, threshold=THRESHOLD, least=_START_LEAST * len(FILES), penalty=4.0, smallest=0.2)
    others = {ngram for example in _other_languages() for ngram in example.ngrams}
    table = {
        ngram: round(weight * _START_SCALE, 3)
        for ngram, weight in found.table.items()
        if ngram not in others and _is_common(sorted(each[ngram] for each in counts.values()))
    }
    return Weights(threshold=THRESHOLD, bias=0.0, table=table)


def fit_english(messages: Sequence[Message], start: Weights) -> Weights:
    """Return weights for English, from messages of dialogues and from what was written."""
    written = _examples(written_messages("en", _ENGLISH_SPELLINGS), _WRITTEN_WEIGHT)
    examples = [*_examples(messages, _DIALOGUE_WEIGHT), *written]
    return train(examples, threshold=THRESHOLD, start=start, penalty=_ENGLISH_PENALTY)


def add_languages(english: Weights) -> Weights:
    """Return the weights with those of the other languages added, small weights left out."""
    found = train(_other_languages(), threshold=THRESHOLD, start=english, is_fixed=True, least=3, penalty=0.2)
    return _without_small(found, english)


def cross_validate(dialogues: Sequence[Dialogue], start: Weights, division: int = 0) -> list[Scored]:
    """Return the messages of every dialogue, scored by weights that saw neither it nor a copy of it.

    `division` chooses one of many ways to divide the dialogues into folds.
    """
    rows = []
    for fold in folds(dialogues, division):
        english = fit_english(first_of_each_group(dialogues, but=fold), start)
        weights = _without_small(english, english)
        for number, dialogue in enumerate(dialogues):
            if dialogue.group in fold:
                rows += score(dialogue.messages, weights, number)
    return rows


def score(messages: Iterable[Message], weights: Weights, dialogue: int = 0) -> list[Scored]:
    """Return messages with their probabilities, and what the rules say where they decide alone."""
    return [
        Scored(asks, round(weights.probability(ngrams_of(text)), 2), dialogue, _decided(text))
        for text, asks in messages
    ]


def shipped_start() -> Weights:
    """Return the start that is kept in the repository."""
    return read_weights(START)


def _decided(text: str) -> bool | None:
    """Return whether a message wakes by the rules alone; None where they leave it to the score."""
    found = explain(_SAID.model_copy(update={"content": text}), _RULES, inflight=False)
    return found.rule in ("question", "alarm") if found.probability is None else None


def _is_common(counts: Sequence[int]) -> bool:
    return counts[0] >= _START_LEAST and counts[-1] <= _START_MOST_TIMES * counts[0]


def _without_small(weights: Weights, english: Weights) -> Weights:
    table = {
        ngram: weight
        for ngram, weight in weights.table.items()
        if abs(weight) > (_SMALLEST_ENGLISH if ngram in english.table else _SMALLEST_OTHER)
    }
    return Weights(threshold=weights.threshold, bias=weights.bias, table=table)


def _other_languages() -> list[Example]:
    return [
        example
        for language in trained_languages()
        for example in _examples(written_messages(language, _OTHER_SPELLINGS))
    ]


def _examples(messages: Iterable[Message], weight: float = 1.0) -> list[Example]:
    return [Example(ngrams_of(text), asks, weight) for text, asks in messages]
