"""Heartbeats: when a beat runs, what it looks at, and who is told."""
