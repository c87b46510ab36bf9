"""Red lines: acts are checked before their effect; what pauses goes to the operator (D-03, S4-08)."""
