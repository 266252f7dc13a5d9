"""What happens to a question between the queue and the posted reply."""
