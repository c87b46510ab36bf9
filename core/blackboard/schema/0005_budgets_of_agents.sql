-- Agents that were hired before there were budgets are held to what they were given. The event of each new row comes
-- with it: rows are a fold of the events.
INSERT INTO budgets(scope, scope_id, limit_micros, period, extra_micros, extra_period, warned_period, created_at, updated_at, version)
  SELECT 'agent', id, min(budget_micros, 1000000000000000), 'day', 0, -1, -1, coalesce((SELECT max(at) FROM events), 0),
  coalesce((SELECT max(at) FROM events), 0), 1 FROM agents WHERE budget_micros > 0 AND status <> 'terminated'
  AND NOT EXISTS (SELECT 1 FROM budgets WHERE scope = 'agent' AND scope_id = agents.id) ORDER BY id;
INSERT INTO events(at, actor, entity, entity_id, kind, changed)
  SELECT created_at, 'system', 'budgets', id, 'BudgetSet', json_object('id', id, 'scope', scope, 'scope_id', scope_id,
  'limit_micros', limit_micros, 'period', period, 'extra_micros', extra_micros, 'extra_period', extra_period,
  'warned_period', warned_period, 'created_at', created_at, 'updated_at', updated_at, 'version', version) FROM budgets
  WHERE NOT EXISTS (SELECT 1 FROM events WHERE entity = 'budgets' AND entity_id = budgets.id) ORDER BY id;
