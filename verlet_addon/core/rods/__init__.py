"""Cosserat rods: ropes that know which way they bend and twist."""
