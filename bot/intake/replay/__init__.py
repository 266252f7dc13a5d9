"""Past events under today's rules."""
