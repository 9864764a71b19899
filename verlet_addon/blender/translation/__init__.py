"""The interface in other languages: a catalog of each, and how texts are found in it."""
