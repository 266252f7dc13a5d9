"""Tier 0: what a message is, by rules, without a model."""

from bot.intake.classifier.classification import Rules, classify

__all__ = ["Rules", "classify"]
