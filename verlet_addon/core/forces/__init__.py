"""What moves bodies from outside: gravity, force fields and the air they set in motion."""
