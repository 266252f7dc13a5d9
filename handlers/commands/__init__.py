"""The `/triage` command: one file a topic, and the dispatcher."""
