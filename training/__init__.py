"""How the shipped weights of the classifier are trained and measured; no part of the package."""
