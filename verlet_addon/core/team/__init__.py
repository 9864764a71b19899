"""Threads that share the loops of compiled kernels."""
