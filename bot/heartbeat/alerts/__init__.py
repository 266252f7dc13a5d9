"""From findings to messages, and what people answer."""
