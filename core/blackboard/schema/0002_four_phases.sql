-- The four phases: exploration, discussion in turns, plans open for objection, reviews in stages, coverage by outputs.
ALTER TABLE goals ADD COLUMN exploring INTEGER NOT NULL DEFAULT 0;
ALTER TABLE goals ADD COLUMN out_of_scope TEXT NOT NULL DEFAULT '[]';
ALTER TABLE tasks ADD COLUMN tags TEXT NOT NULL DEFAULT '[]';
ALTER TABLE tasks ADD COLUMN plan_comment INTEGER REFERENCES comments(id);
ALTER TABLE tasks ADD COLUMN plan_until INTEGER;
ALTER TABLE tasks ADD COLUMN plans INTEGER NOT NULL DEFAULT 0;
ALTER TABLE tasks ADD COLUMN criteria TEXT NOT NULL DEFAULT '[]';
ALTER TABLE tasks ADD COLUMN review_step TEXT NOT NULL DEFAULT 'review';
ALTER TABLE outputs ADD COLUMN must_haves TEXT NOT NULL DEFAULT '[]';
ALTER TABLE outputs ADD COLUMN publish INTEGER NOT NULL DEFAULT 0;
ALTER TABLE reviews ADD COLUMN stage TEXT NOT NULL DEFAULT 'review';
ALTER TABLE reviews ADD COLUMN settled INTEGER NOT NULL DEFAULT 1;
ALTER TABLE reviews ADD COLUMN rebuttal_answer TEXT NOT NULL DEFAULT '';
ALTER TABLE reviews ADD COLUMN rebutted_by TEXT NOT NULL DEFAULT '';
ALTER TABLE decisions ADD COLUMN waived_by TEXT NOT NULL DEFAULT '';
CREATE INDEX tasks_parent ON tasks(parent_id) WHERE parent_id IS NOT NULL;
CREATE INDEX decisions_goal ON decisions(goal_id, id);
CREATE INDEX mentions_comment ON mentions(comment_id);
CREATE INDEX mentions_run ON mentions(run_id) WHERE run_id IS NOT NULL;
CREATE TABLE turns(
  id INTEGER PRIMARY KEY, goal_id INTEGER NOT NULL REFERENCES goals(id), number INTEGER NOT NULL, agents TEXT NOT NULL,
  after_comment INTEGER NOT NULL, after_task INTEGER NOT NULL, new_tasks INTEGER NOT NULL, questions INTEGER NOT NULL,
  objections INTEGER NOT NULL, outcome TEXT NOT NULL, ended_at INTEGER,
  created_at INTEGER NOT NULL, version INTEGER NOT NULL, UNIQUE(goal_id, number)
) STRICT;
CREATE UNIQUE INDEX turns_one_open ON turns(goal_id) WHERE ended_at IS NULL;
