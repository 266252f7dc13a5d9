"""Replies without a human: whether they are armed, how one is sent, and how it is taken back."""
