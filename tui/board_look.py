"""What a person chose for the board mode: columns, sorting, grouping, what shows. Remembered between starts."""

from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

Name = Literal[
    "number", "title", "status", "who", "since", "priority", "round", "goal", "runs", "cost", "waits", "age"
]  # fmt: skip
Group = Literal["", "status", "who", "round", "goal"]
Over = Literal["open", "finished", "archived"]
"""What shows: only what is open; what is finished too; what is archived too."""
COLUMNS: tuple[Name, ...] = get_args(Name)
GROUPS: tuple[Group, ...] = get_args(Group)
OVERS: tuple[Over, ...] = get_args(Over)
ALWAYS: frozenset[Name] = frozenset({"title"})
"""Columns that cannot be hidden."""


class BoardLook(BaseModel):
    """How the board mode was left; remembered."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    view: Literal["tree", "table"] = "table"
    sort: Name = "number"
    descending: bool = False
    group: Group = "goal"
    over: Over = "finished"
    hidden: tuple[Name, ...] = Field((), max_length=len(COLUMNS))

    @property
    def columns(self) -> tuple[Name, ...]:
        """The columns that show, in their order, without what each line tells elsewhere."""
        told = "number" if self.view == "tree" else self.group  # in the title, and above each group
        hidden = {*self.hidden, told} - ALWAYS
        return tuple(name for name in COLUMNS if name not in hidden)
