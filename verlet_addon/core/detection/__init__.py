"""What comes near what during a step."""
