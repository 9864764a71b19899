"""Cloth of threads: what differs along them and across."""
