"""What people may type, and how it is read."""
