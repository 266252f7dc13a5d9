"""HEARTBEAT.md: entries, edits, proposals."""
