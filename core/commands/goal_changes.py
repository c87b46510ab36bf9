"""A change of a goal at work: it waits for the operator, side by side with what it is now (S2-13)."""
