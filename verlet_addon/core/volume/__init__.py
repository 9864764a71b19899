"""Volumes that surfaces enclose, and the gas in them."""
