"""What happened and how things stand, at the terminal."""
