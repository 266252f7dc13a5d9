"""Chunks, tokens and ranking."""
