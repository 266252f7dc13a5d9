"""From an approved draft to the reply in its thread, and what is said of that reply."""
