"""Suggestions between sessions."""
