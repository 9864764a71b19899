"""Sides of closed surfaces: depenetration of what starts inside."""
