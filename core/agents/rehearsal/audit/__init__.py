"""The real work of the rehearsal agents: what a folder holds, found without a model.

Run as a child process (`python -m core.agents.rehearsal.audit KIND FOLDER`), so that a slow
folder never holds up the company. Nothing here knows the blackboard; see `shapes` for results.
"""
