-- The CEO's organisation, stage B, what a run is told to look at, and budgets that reserve before a run starts.
ALTER TABLE agents ADD COLUMN duties TEXT NOT NULL DEFAULT '';
ALTER TABLE company ADD COLUMN auto_in_a_row INTEGER NOT NULL DEFAULT 0;
ALTER TABLE goals ADD COLUMN auto_dispatched_at INTEGER;
ALTER TABLE runs ADD COLUMN brief TEXT NOT NULL DEFAULT '{}';
ALTER TABLE runs ADD COLUMN reserved_micros INTEGER NOT NULL DEFAULT 0;
CREATE TABLE budgets(
  id INTEGER PRIMARY KEY, scope TEXT NOT NULL, scope_id INTEGER NOT NULL, limit_micros INTEGER NOT NULL,
  period TEXT NOT NULL, extra_micros INTEGER NOT NULL, extra_period INTEGER NOT NULL, warned_period INTEGER NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, version INTEGER NOT NULL, UNIQUE(scope, scope_id)
) STRICT;
CREATE INDEX runs_ended ON runs(ended_at, cost_micros) WHERE cost_micros > 0;
CREATE INDEX runs_costed ON runs(agent_id, kind, ended_at, cost_micros) WHERE cost_micros > 0;
CREATE INDEX runs_goal_costed ON runs(goal_id, ended_at, cost_micros) WHERE cost_micros > 0;
