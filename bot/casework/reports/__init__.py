"""Briefs, metrics and the status, from the journals."""
