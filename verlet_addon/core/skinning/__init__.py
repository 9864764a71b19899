"""Motion of vertices as a few rigid bones and sparse weights."""
