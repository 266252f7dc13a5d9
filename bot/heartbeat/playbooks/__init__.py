"""HEARTBEAT.md files and the commands in them."""
