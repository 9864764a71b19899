"""Water whose surface ripples."""
