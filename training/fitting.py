"""Fits the shipped weights, in two steps.

First English, on labelled dialogues of developer chats and on messages written for this project. Then the other
languages, on messages written for this project: only n-grams that English does not have are learned, so that no
language changes how another is heard.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from bot.intake.classifier.classification import ngrams_of
from bot.intake.classifier.rules import Rules
from bot.intake.classifier.scorer import RULE, Weights
from bot.intake.classifier.training import Example, train
from training.evaluation import Scored, folds
from training.examples import Dialogue, Message, first_of_each_group, trained_languages, written_messages

THRESHOLD: Final = 0.42
_DIALOGUE_WEIGHT: Final = 3.0
_ENGLISH_SPELLINGS: Final = 10
_OTHER_SPELLINGS: Final = 12
_RULES = Rules()


def fit_english(messages: Sequence[Message]) -> Weights:
    """Return weights for English, from messages of dialogues and from what was written."""
    examples = [*_examples(messages, _DIALOGUE_WEIGHT), *_examples(written_messages("en", _ENGLISH_SPELLINGS))]
    return train(examples, threshold=THRESHOLD, smallest=0.12)


def add_languages(english: Weights) -> Weights:
    """Return the weights with those of the other languages added."""
    examples = [
        example
        for language in trained_languages()
        for example in _examples(written_messages(language, _OTHER_SPELLINGS))
    ]
    return train(examples, threshold=THRESHOLD, start=english, is_fixed=True, least=3, penalty=0.2, smallest=0.3)


def cross_validate(dialogues: Sequence[Dialogue]) -> list[Scored]:
    """Return the messages of every dialogue, scored by weights that saw neither it nor a copy of it."""
    rows = []
    for fold in folds(dialogues):
        weights = fit_english(first_of_each_group(dialogues, but=fold))
        for number, dialogue in enumerate(dialogues):
            if dialogue.group in fold:
                rows += score(dialogue.messages, weights, number)
    return rows


def score(messages: Iterable[Message], weights: Weights, dialogue: int = 0) -> list[Scored]:
    """Return messages with their probabilities."""
    rows = []
    for text, asks in messages:
        ngrams = ngrams_of(text, _RULES)
        rows.append(Scored(asks, weights.probability(ngrams), dialogue, RULE in ngrams))
    return rows


def _examples(messages: Iterable[Message], weight: float = 1.0) -> list[Example]:
    return [Example(ngrams_of(text, _RULES), asks, weight) for text, asks in messages]
