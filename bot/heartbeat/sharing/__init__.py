"""Cross-pollination between sessions."""
