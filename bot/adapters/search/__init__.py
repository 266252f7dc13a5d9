"""The indexes of passages and notes."""
