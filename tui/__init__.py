"""The control room in the terminal."""
