"""Agents that speak the Agent Client Protocol: programs that ask before they act, and that one can speak to."""
