"""Slack's connections, requests and limits."""
