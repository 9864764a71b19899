"""What is touched."""
