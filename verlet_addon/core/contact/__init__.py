"""What bodies rest on and bounce off."""
