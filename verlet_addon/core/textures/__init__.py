"""Motion in textures for games, and their files."""
