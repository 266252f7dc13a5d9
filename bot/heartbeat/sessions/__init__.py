"""The registry of sessions, their owners and inboxes."""
