"""The Slack edge: the only part that talks to Slack. routes.py is the table of what arrives where."""
