"""`triage eval`."""
