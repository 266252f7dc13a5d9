"""What is fast, measured against what; every figure is a ratio of two things run side by side on one machine."""
