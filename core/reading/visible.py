"""What an agent does not see: the first of two verdicts, and what its reviewer said meanwhile (S2-20); others' letters.

SQL conditions, so that what is hidden is decided in the same moment as what is read. Their parameters are `Look.sees`.
"""

REVIEW_SEEN = "(:sees_all OR reviews.settled = 1 OR reviews.reviewer = :me)"

# Said since the task was last handed in: in the run that gave the verdict, wherever; or by its reviewer below the task.
_OF_THE_FIRST = (
    "SELECT said.id FROM reviews CROSS JOIN comments AS said ON said.id > coalesce((SELECT max(id) FROM comments AS"
    " last WHERE last.task_id = reviews.subject_id AND last.kind = 'handoff'), 0)"
    " WHERE reviews.subject = 'task' AND reviews.settled = 0 AND reviews.reviewer <> :me AND (+said.run_id ="
    " reviews.run_id OR (+said.task_id = reviews.subject_id AND said.author = reviews.reviewer))"
)
# A letter belongs to no goal: it is for whom it is written, for the CEO, and for its author.
_LETTER_SEEN = (
    "(comments.goal_id IS NOT NULL OR comments.author = :me OR comments.body LIKE '@' || :me || ' %'"
    " OR EXISTS (SELECT 1 FROM agents WHERE slug = :me AND role = 'ceo') OR EXISTS (SELECT 1 FROM mentions"
    " JOIN agents ON agents.id = agent_id WHERE comment_id = comments.id AND slug = :me))"
)
# An answer to such a word tells of it too.
COMMENT_SEEN = (
    f"(:sees_all OR comments.author = :me OR (comments.id NOT IN ({_OF_THE_FIRST})"
    f" AND coalesce(comments.reply_to, 0) NOT IN ({_OF_THE_FIRST}) AND {_LETTER_SEEN}))"
)

# What the operator did not keep, no agent is told as an experience.
EXPERIENCE_SEEN = "(:sees_all OR experiences.status = 'kept')"
