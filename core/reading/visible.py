"""What an agent does not see: the first of two verdicts, and what its reviewer said meanwhile (S2-20); others' letters.

SQL conditions, so that what is hidden is decided in the same moment as what is read. Their parameters are `Look.sees`.
"""

REVIEW_SEEN = "(:sees_all OR reviews.settled = 1 OR reviews.reviewer = :me)"

# Said in the run that gave the verdict, wherever; or by its reviewer below the task since it was last handed in.
_OF_THE_FIRST = (
    "SELECT said.id FROM reviews JOIN tasks AS judged ON judged.id = reviews.subject_id"
    " JOIN comments AS said ON said.goal_id = judged.goal_id"
    " WHERE reviews.subject = 'task' AND reviews.settled = 0 AND reviews.reviewer <> :me"
    " AND (said.run_id = reviews.run_id OR (said.task_id = judged.id AND said.author = reviews.reviewer AND said.id >"
    " coalesce((SELECT max(id) FROM comments AS last WHERE last.task_id = judged.id AND last.kind = 'handoff'), 0)))"
)
# A letter belongs to no goal: it is for whom it is written, for the CEO, and for its author.
_LETTER_SEEN = (
    "(comments.goal_id IS NOT NULL OR comments.author = :me OR comments.body LIKE '@' || :me || ' %'"
    " OR EXISTS (SELECT 1 FROM agents WHERE slug = :me AND role = 'ceo') OR EXISTS (SELECT 1 FROM mentions"
    " JOIN agents ON agents.id = agent_id WHERE comment_id = comments.id AND slug = :me))"
)
COMMENT_SEEN = f"(:sees_all OR (comments.id NOT IN ({_OF_THE_FIRST}) AND {_LETTER_SEEN}))"

# What the operator did not keep, no agent is told as an experience.
EXPERIENCE_SEEN = "(:sees_all OR experiences.status = 'kept')"
