"""Notes and lessons: kept on a click, checked at each HEAD."""
