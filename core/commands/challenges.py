"""A reviewer's challenge of the coordinator's round review, and who decides it (S2-31, C-07)."""
