"""Worker pool, ticker, reload: what runs while the bot runs."""
