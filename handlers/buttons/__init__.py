"""Clicks: one file a kind of card."""
