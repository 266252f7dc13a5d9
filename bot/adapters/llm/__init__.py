"""The model provider's SDK."""
