"""Cards in the ops channel and in direct messages."""
