"""Runners: what turns an assignment into calls on the blackboard."""
