"""Tier 2: long investigations outside the bot."""
