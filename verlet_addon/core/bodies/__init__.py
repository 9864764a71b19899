"""The kinds of bodies in a step: predictor, internal constraints and velocity update of each."""
