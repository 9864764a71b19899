"""Everything that keeps angles."""
