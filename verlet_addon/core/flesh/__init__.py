"""Flesh between skin and bone, over a body that something poses."""
