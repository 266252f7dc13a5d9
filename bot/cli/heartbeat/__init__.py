"""`triage heartbeat`, `triage tiers` and `triage pollinate`."""
