"""How citations and links are written and compared."""
