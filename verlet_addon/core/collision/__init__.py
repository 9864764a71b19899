"""What meets what in a step, and how it gives way."""
