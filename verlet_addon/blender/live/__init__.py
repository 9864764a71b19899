"""Live simulation: frame changes simulate, and a Mesh Cache modifier shows the result."""
