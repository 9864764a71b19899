"""Conservation of linear and angular momentum of free bodies."""
