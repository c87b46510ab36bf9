"""A company in virtual time: scripted agents, the real board, ticker and dispatcher, and the laws that always hold."""
