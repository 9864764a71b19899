"""What is touched: pushes, friction, rebound, and that nothing passes."""
