"""Clocks, tmux and detached processes."""
