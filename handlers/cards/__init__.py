"""Posting and updating cards."""
