"""Translation of the interface and of the manual's first pages: which texts there are."""
