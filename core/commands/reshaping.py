"""Open rounds reshaped: a task split into parts or sent back to its author, a round ended by a person."""
