"""Surfaces other than Slack: Telegram, webhooks."""
