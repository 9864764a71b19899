"""Phases of a step for each kind of body: predictor, internal constraints, velocity update."""
