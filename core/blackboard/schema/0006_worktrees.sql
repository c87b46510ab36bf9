-- Work folders: a task may name a git repository; each agent that works on it gets a work tree of its own there.
ALTER TABLE goals ADD COLUMN repository TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN repository TEXT NOT NULL DEFAULT '';
CREATE TABLE worktrees(
  id INTEGER PRIMARY KEY, task_id INTEGER NOT NULL REFERENCES tasks(id), number INTEGER NOT NULL,
  agent_id INTEGER NOT NULL REFERENCES agents(id), repository TEXT NOT NULL, path TEXT NOT NULL, branch TEXT NOT NULL,
  begins_from TEXT NOT NULL, base TEXT NOT NULL, closed_at INTEGER,
  created_at INTEGER NOT NULL, version INTEGER NOT NULL, UNIQUE(task_id, number)
) STRICT;
