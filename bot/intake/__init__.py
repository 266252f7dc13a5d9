"""A chat message becomes a journaled, classified, queued event."""
