"""triage: drafts cited answers to engineering questions; a human's click posts them."""
