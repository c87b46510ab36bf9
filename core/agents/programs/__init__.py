"""Agents that are programs of their own: started for one run, fed by standard input, ended whole."""
