"""How the bot is put together, in four rooms: what all stand on, casework, beats, and the line to Slack."""
