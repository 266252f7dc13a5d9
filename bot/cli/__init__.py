"""The commands of the terminal, one module each; imported only when called."""
