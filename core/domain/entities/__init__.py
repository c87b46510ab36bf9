"""The things on the blackboard, as frozen records. A field is a column; `records` maps them.

Times are integer milliseconds UTC; money is integer millionths of a US dollar.
"""

from core.domain.entities.base import Criterion, Entity, Event, MustHave
from core.domain.entities.company import AgentRecord, Approval, Budget, Company
from core.domain.entities.results import Decision, Output, Review
from core.domain.entities.talk import Comment, Experience, Knowledge, Mention, Remark, Turn
from core.domain.entities.work import Goal, Offer, Round, Run, Task, TaskDep, WorkTree

__all__ = [
    "ENTITIES",
    "AgentRecord",
    "Approval",
    "Budget",
    "Comment",
    "Company",
    "Criterion",
    "Decision",
    "Entity",
    "Event",
    "Experience",
    "Goal",
    "Knowledge",
    "Mention",
    "MustHave",
    "Offer",
    "Output",
    "Remark",
    "Review",
    "Round",
    "Run",
    "Task",
    "TaskDep",
    "Turn",
    "WorkTree",
]

ENTITIES: dict[str, type[Entity]] = {
    cls.table: cls
    for cls in (
        Company,
        AgentRecord,
        Goal,
        Turn,
        Round,
        Task,
        TaskDep,
        Run,
        Comment,
        Mention,
        Output,
        Review,
        Decision,
        Approval,
        Experience,
        Knowledge,
        Offer,
        Budget,
        WorkTree,
        Remark,
    )
}
