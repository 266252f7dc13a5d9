"""Fits the shipped weights, in three steps.

First a start, on conversations that nobody labelled. From there English, on labelled dialogues of developer chats and
on messages written for this project. Then the other languages, on messages written for this project: only n-grams that
English does not have are learned, so that no language changes how another is heard.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from bot.intake.classifier.classification import decided_by_rules, ngrams_of
from bot.intake.classifier.rules import Rules
from bot.intake.classifier.scorer import Weights
from bot.intake.classifier.training import Example, train
from training.evaluation import Scored, folds
from training.examples import Dialogue, Message, first_of_each_group, trained_languages, written_messages

THRESHOLD: Final = 0.4
_DIALOGUE_WEIGHT: Final = 3.0
_WRITTEN_WEIGHT: Final = 0.7
_ENGLISH_SPELLINGS: Final = 10
_OTHER_SPELLINGS: Final = 12
_SMALLEST_ENGLISH: Final = 0.2  # weights nearer to 0 do not ship
_SMALLEST_OTHER: Final = 0.4
_START_SCALE: Final = 2.0  # the start is learned cautiously; labelled dialogues say that it may weigh as much more
_RULES = Rules()


def fit_start(messages: Sequence[Message]) -> Weights | None:
    """Return weights from conversations without labels, asking and other messages counting alike; None without any."""
    if not messages:
        return None
    asking = sum(message.asks for message in messages)
    asks, others = (len(messages) / (2 * count) for count in (asking, len(messages) - asking))
    examples = [Example(ngrams_of(text, _RULES), kind, asks if kind else others) for text, kind in messages]
    found = train(examples, threshold=THRESHOLD, least=5, penalty=10.0, smallest=0.1)
    table = {ngram: round(weight * _START_SCALE, 3) for ngram, weight in found.table.items()}
    return Weights(threshold=THRESHOLD, bias=0.0, table=table)


def fit_english(messages: Sequence[Message], start: Weights | None) -> Weights:
    """Return weights for English, from messages of dialogues and from what was written."""
    written = _examples(written_messages("en", _ENGLISH_SPELLINGS), _WRITTEN_WEIGHT)
    examples = [*_examples(messages, _DIALOGUE_WEIGHT), *written]
    return train(examples, threshold=THRESHOLD, start=start, smallest=0.02)


def add_languages(english: Weights) -> Weights:
    """Return the weights with those of the other languages added."""
    examples = [
        example
        for language in trained_languages()
        for example in _examples(written_messages(language, _OTHER_SPELLINGS))
    ]
    found = train(examples, threshold=THRESHOLD, start=english, is_fixed=True, least=3, penalty=0.2)
    return _without_small(found, english)


def _without_small(weights: Weights, english: Weights) -> Weights:
    table = {
        ngram: weight
        for ngram, weight in weights.table.items()
        if abs(weight) > (_SMALLEST_ENGLISH if ngram in english.table else _SMALLEST_OTHER)
    }
    return Weights(threshold=weights.threshold, bias=weights.bias, table=table)


def cross_validate(dialogues: Sequence[Dialogue], start: Weights | None, division: int = 0) -> list[Scored]:
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
        Scored(asks, weights.probability(ngrams_of(text, _RULES)), dialogue, decided_by_rules(text, _RULES))
        for text, asks in messages
    ]


def _examples(messages: Iterable[Message], weight: float = 1.0) -> list[Example]:
    return [Example(ngrams_of(text, _RULES), asks, weight) for text, asks in messages]
