"""The collision world, and the contact step: detection and solution of contacts in a step."""
