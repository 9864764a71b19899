"""Everything that keeps volumes."""
