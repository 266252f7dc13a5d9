"""What the bot would have done on past conversations, and whether it would have been right."""
