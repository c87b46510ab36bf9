"""Mail: letters to the operator wait for an answer; an exchange without end goes to a person (C-18, F7)."""
