"""Water: the wave equation on a triangulated surface."""
