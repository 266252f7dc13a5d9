"""From a question to a draft with evidence."""
