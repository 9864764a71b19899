"""Momentum of bodies that nothing holds."""
