"""Whose beat is due, and whether it may run."""
