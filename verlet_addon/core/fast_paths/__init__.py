"""Fast paths: frames without any steps (sleeping), or with all steps in one compiled call."""
