"""Work trees of tasks in git: made, read and taken away by git itself. Everything here waits; call it in a thread.

Nothing here knows the board: who has which tree stands there (`core.commands.worktrees`).
"""
