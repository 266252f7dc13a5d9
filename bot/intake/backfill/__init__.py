"""Reading back what was missed."""
