"""Beats, findings, session state: values and rules."""
