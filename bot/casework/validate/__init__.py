"""The verdict on a draft."""
