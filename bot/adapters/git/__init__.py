"""What fetches from other machines: clones of codebases that are given by their address."""
