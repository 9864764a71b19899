"""What moves bodies from outside."""
