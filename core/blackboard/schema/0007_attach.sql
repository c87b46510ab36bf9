-- The operator's hand on a run: whether it is paused, and words that are said into it.
ALTER TABLE runs ADD COLUMN paused_at INTEGER;
CREATE TABLE remarks(
  id INTEGER PRIMARY KEY, run_id INTEGER NOT NULL REFERENCES runs(id), author TEXT NOT NULL, body TEXT NOT NULL,
  status TEXT NOT NULL, created_at INTEGER NOT NULL, version INTEGER NOT NULL
) STRICT;
CREATE INDEX remarks_waiting ON remarks(run_id, id) WHERE status = 'waiting';
