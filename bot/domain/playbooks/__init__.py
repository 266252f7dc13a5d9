"""HEARTBEAT.md: entries, edits."""
