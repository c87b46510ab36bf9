"""The orchestration core: domain, blackboard, commands, agents, ticker. Imports nothing from the room."""
