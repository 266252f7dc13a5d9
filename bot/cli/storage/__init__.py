"""The stored files and notes: shown, put, retired, moved."""
