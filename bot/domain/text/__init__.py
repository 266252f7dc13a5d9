"""Words, languages and layout."""
