"""What a crash left, settled."""
