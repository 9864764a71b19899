"""Contacts and near pairs, kept from step to step, and their rows with multipliers."""
