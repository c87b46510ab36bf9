-- The first schema. A statement ends with a semicolon at the end of a line.
CREATE TABLE company(
  id INTEGER PRIMARY KEY CHECK (id = 1), name TEXT NOT NULL, mission TEXT NOT NULL, locale TEXT NOT NULL,
  org_status TEXT NOT NULL, autonomy TEXT NOT NULL, dispatching INTEGER NOT NULL, stop_reason TEXT NOT NULL,
  budget_micros INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, version INTEGER NOT NULL
) STRICT;
CREATE TABLE agents(
  id INTEGER PRIMARY KEY, slug TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL,
  capabilities TEXT NOT NULL, manager_id INTEGER REFERENCES agents(id), runner TEXT NOT NULL, status TEXT NOT NULL,
  max_runs INTEGER NOT NULL, budget_micros INTEGER NOT NULL, cooldown_until INTEGER,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, version INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX agents_one_ceo ON agents(role) WHERE role = 'ceo' AND status <> 'terminated';
CREATE TABLE goals(
  id INTEGER PRIMARY KEY, title TEXT NOT NULL, description TEXT NOT NULL, must_haves TEXT NOT NULL,
  constraints TEXT NOT NULL, status TEXT NOT NULL, origin TEXT NOT NULL, created_by TEXT NOT NULL,
  content_hash TEXT NOT NULL, reviewed_by TEXT, reviewed_at INTEGER, reviewed_hash TEXT, split INTEGER NOT NULL,
  round_cap INTEGER NOT NULL, paused_at INTEGER, reason TEXT NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, version INTEGER NOT NULL
) STRICT;
CREATE INDEX goals_alive ON goals(status, id) WHERE status NOT IN ('done', 'failed', 'cancelled', 'archived');
CREATE TABLE rounds(
  id INTEGER PRIMARY KEY, goal_id INTEGER NOT NULL REFERENCES goals(id), number INTEGER NOT NULL, status TEXT NOT NULL,
  answers TEXT NOT NULL, decision TEXT, open_tasks INTEGER NOT NULL, total_tasks INTEGER NOT NULL,
  review_attempts INTEGER NOT NULL, progress_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, version INTEGER NOT NULL, UNIQUE(goal_id, number)
) STRICT;
CREATE UNIQUE INDEX rounds_one_open ON rounds(goal_id) WHERE status <> 'closed';
CREATE TABLE tasks(
  id INTEGER PRIMARY KEY, goal_id INTEGER NOT NULL REFERENCES goals(id), round_id INTEGER REFERENCES rounds(id),
  parent_id INTEGER REFERENCES tasks(id), retry_of INTEGER REFERENCES tasks(id), title TEXT NOT NULL,
  intent TEXT NOT NULL, end_state TEXT NOT NULL, constraints TEXT NOT NULL, must_haves TEXT NOT NULL,
  capabilities TEXT NOT NULL, arguments TEXT NOT NULL, risk TEXT NOT NULL, status TEXT NOT NULL, block_kind TEXT,
  assignee_id INTEGER REFERENCES agents(id), last_assignee_id INTEGER REFERENCES agents(id), current_run INTEGER,
  fence INTEGER NOT NULL, lease_until INTEGER, attempts INTEGER NOT NULL, review_attempts INTEGER NOT NULL,
  priority INTEGER NOT NULL, open_deps INTEGER NOT NULL, offer INTEGER NOT NULL, broadcasts INTEGER NOT NULL,
  broadcast_at INTEGER, created_by TEXT NOT NULL, idempotency_key TEXT UNIQUE, reason TEXT NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, version INTEGER NOT NULL
) STRICT;
CREATE INDEX tasks_ready ON tasks(priority, id) WHERE status = 'pending' AND open_deps = 0;
CREATE INDEX tasks_goal ON tasks(goal_id, id);
CREATE INDEX tasks_round ON tasks(round_id, id);
CREATE INDEX tasks_busy ON tasks(status, id) WHERE status IN ('claimed', 'working', 'review', 'blocked', 'waiting_human');
CREATE TABLE task_deps(
  id INTEGER PRIMARY KEY, task_id INTEGER NOT NULL REFERENCES tasks(id), depends_on INTEGER NOT NULL REFERENCES tasks(id),
  on_fail TEXT NOT NULL, met INTEGER NOT NULL, version INTEGER NOT NULL, UNIQUE(task_id, depends_on)
) STRICT;
CREATE INDEX task_deps_reverse ON task_deps(depends_on, task_id);
CREATE TABLE runs(
  id INTEGER PRIMARY KEY, agent_id INTEGER NOT NULL REFERENCES agents(id), kind TEXT NOT NULL,
  task_id INTEGER REFERENCES tasks(id), goal_id INTEGER REFERENCES goals(id), round_id INTEGER REFERENCES rounds(id),
  status TEXT NOT NULL, fence INTEGER NOT NULL, owner TEXT, pid INTEGER, pid_started INTEGER, lease_until INTEGER,
  model TEXT NOT NULL, prompt_hash TEXT NOT NULL, tokens_in INTEGER NOT NULL, tokens_out INTEGER NOT NULL,
  cost_micros INTEGER NOT NULL, exit_kind TEXT NOT NULL, detail TEXT NOT NULL, session TEXT NOT NULL, cause INTEGER,
  idempotency_key TEXT UNIQUE, queued_at INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER, version INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_live ON runs(status, id) WHERE status IN ('queued', 'starting', 'running');
CREATE INDEX runs_task ON runs(task_id, id);
CREATE INDEX runs_started ON runs(started_at) WHERE started_at IS NOT NULL;
CREATE TABLE comments(
  id INTEGER PRIMARY KEY, goal_id INTEGER REFERENCES goals(id), task_id INTEGER REFERENCES tasks(id),
  author TEXT NOT NULL, run_id INTEGER REFERENCES runs(id), kind TEXT NOT NULL, body TEXT NOT NULL,
  reply_to INTEGER REFERENCES comments(id), confidence REAL, created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX comments_task ON comments(task_id, id);
CREATE INDEX comments_goal ON comments(goal_id, id);
CREATE TABLE mentions(
  id INTEGER PRIMARY KEY, comment_id INTEGER NOT NULL REFERENCES comments(id), agent_id INTEGER NOT NULL REFERENCES agents(id),
  goal_id INTEGER REFERENCES goals(id), task_id INTEGER REFERENCES tasks(id), status TEXT NOT NULL,
  run_id INTEGER REFERENCES runs(id), version INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX mentions_one_pending ON mentions(agent_id, coalesce(task_id, 0), coalesce(goal_id, 0)) WHERE status = 'pending';
CREATE TABLE outputs(
  id INTEGER PRIMARY KEY, goal_id INTEGER NOT NULL REFERENCES goals(id), task_id INTEGER REFERENCES tasks(id),
  run_id INTEGER REFERENCES runs(id), type TEXT NOT NULL, title TEXT NOT NULL, summary TEXT NOT NULL, content TEXT,
  path TEXT, sha256 TEXT NOT NULL, size INTEGER NOT NULL, verified_at INTEGER NOT NULL, created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL, CHECK ((content IS NULL) <> (path IS NULL))
) STRICT;
CREATE INDEX outputs_task ON outputs(task_id, id);
CREATE INDEX outputs_goal ON outputs(goal_id, id);
CREATE TABLE reviews(
  id INTEGER PRIMARY KEY, subject TEXT NOT NULL, subject_id INTEGER NOT NULL, subject_hash TEXT NOT NULL,
  reviewer TEXT NOT NULL, run_id INTEGER REFERENCES runs(id), attempt INTEGER NOT NULL, verdict TEXT NOT NULL,
  dimensions TEXT NOT NULL, findings TEXT NOT NULL, opened_outputs TEXT NOT NULL, rebuttal TEXT NOT NULL,
  created_at INTEGER NOT NULL, version INTEGER NOT NULL
) STRICT;
CREATE INDEX reviews_subject ON reviews(subject, subject_id, id);
CREATE TABLE decisions(
  id INTEGER PRIMARY KEY, goal_id INTEGER NOT NULL REFERENCES goals(id), task_id INTEGER REFERENCES tasks(id),
  comment_id INTEGER REFERENCES comments(id), text TEXT NOT NULL, covered_by TEXT NOT NULL, created_by TEXT NOT NULL,
  created_at INTEGER NOT NULL, version INTEGER NOT NULL
) STRICT;
CREATE TABLE approvals(
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, entity TEXT NOT NULL, title TEXT NOT NULL, payload TEXT NOT NULL,
  payload_hash TEXT NOT NULL, status TEXT NOT NULL, requested_by TEXT NOT NULL, run_id INTEGER REFERENCES runs(id),
  decided_by TEXT, decided_at INTEGER, note TEXT NOT NULL, consumed_at INTEGER, expires_at INTEGER,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, version INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX approvals_one_pending ON approvals(kind, entity) WHERE status = 'pending';
CREATE INDEX approvals_entity ON approvals(entity, id);
CREATE TABLE experiences(
  id INTEGER PRIMARY KEY, task_id INTEGER NOT NULL REFERENCES tasks(id), comment_id INTEGER NOT NULL REFERENCES comments(id),
  author TEXT NOT NULL, body TEXT NOT NULL, status TEXT NOT NULL, uses INTEGER NOT NULL, created_at INTEGER NOT NULL,
  version INTEGER NOT NULL
) STRICT;
CREATE TABLE knowledge(
  id INTEGER PRIMARY KEY, path TEXT NOT NULL, heading TEXT NOT NULL, body TEXT NOT NULL, sha256 TEXT NOT NULL,
  updated_at INTEGER NOT NULL, version INTEGER NOT NULL, UNIQUE(path, heading)
) STRICT;
CREATE TABLE offers(
  id INTEGER PRIMARY KEY, task_id INTEGER NOT NULL REFERENCES tasks(id), agent_id INTEGER NOT NULL REFERENCES agents(id),
  offer INTEGER NOT NULL, run_id INTEGER REFERENCES runs(id), answer TEXT NOT NULL, version INTEGER NOT NULL,
  UNIQUE(task_id, agent_id, offer)
) STRICT;
CREATE TABLE events(
  id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, actor TEXT NOT NULL, run_id INTEGER, entity TEXT NOT NULL,
  entity_id INTEGER NOT NULL, kind TEXT NOT NULL, changed TEXT NOT NULL, cause INTEGER
) STRICT;
CREATE INDEX events_entity ON events(entity, entity_id, id);
CREATE TABLE subscriptions(
  id INTEGER PRIMARY KEY, subscriber TEXT NOT NULL UNIQUE, after_event INTEGER NOT NULL, updated_at INTEGER NOT NULL
) STRICT;
CREATE TABLE leases(
  name TEXT PRIMARY KEY, owner TEXT NOT NULL, fence INTEGER NOT NULL, expires_at INTEGER NOT NULL
) STRICT;
CREATE TABLE commands(
  idempotency_key TEXT PRIMARY KEY, name TEXT NOT NULL, request_hash TEXT NOT NULL, answer TEXT NOT NULL, at INTEGER NOT NULL
) STRICT;
CREATE TABLE counts(
  entity TEXT NOT NULL, status TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY(entity, status)
) STRICT;
CREATE VIRTUAL TABLE search USING fts5(words, entity UNINDEXED, entity_id UNINDEXED, tokenize = 'unicode61');
