"""The inner loops; positions are three component rows (3, n), which gather fastest."""
