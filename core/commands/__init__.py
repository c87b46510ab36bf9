"""The one door: every change of the blackboard is a command."""
