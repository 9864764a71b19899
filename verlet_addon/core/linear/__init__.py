"""Linear systems of one kind each, factorized once and solved many times."""
