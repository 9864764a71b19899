"""What starts inside of something, and its way out."""
