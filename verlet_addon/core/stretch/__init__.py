"""Everything that keeps the lengths of surfaces."""
