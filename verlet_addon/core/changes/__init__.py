"""Bodies in motion whose models are built anew."""
