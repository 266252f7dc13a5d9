"""The throw-away workspace that `triage demo` starts around the ordinary bot."""
