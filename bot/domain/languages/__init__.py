"""Language packs: the few phrases of each language that rules read."""
