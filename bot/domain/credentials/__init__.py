"""What credentials look like, in text and in file names."""
