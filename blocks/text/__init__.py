"""Text for Slack: mrkdwn, escaping, limits."""
