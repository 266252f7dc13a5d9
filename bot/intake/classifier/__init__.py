"""Tier 0: what a message is, by rules, without a model."""

from bot.intake.classifier.classification import classify
from bot.intake.classifier.rules import Rules

__all__ = ["Rules", "classify"]
