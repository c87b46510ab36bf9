"""What agents do in states of a company that matter, scored in code and compared with what they did before (S0-18)."""
