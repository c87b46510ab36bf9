"""What a template may hold: so little that no text of a company's own can run for long or grow without bound. Pure."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # jinja2 is imported on first use: the room paints before
    from jinja2 import nodes

DEPTH_MAX = 40
LOOPS_MAX = 2  # one in the other
SEPARATOR_MAX = 16  # code points
FILTERS = ("capitalize", "default", "first", "join", "last", "length", "lower", "replace", "title", "trim", "upper")
TESTS = ("defined", "none", "number", "string", "undefined")
_NODES = frozenset(
    {
        "Template", "Output", "TemplateData", "If", "For", "Name", "Const", "Getattr", "Getitem", "CondExpr", "Compare",
        "Operand", "Concat", "And", "Or", "Not", "Tuple", "List", "Dict", "Pair", "Filter", "Test", "Call", "Assign",
    }
)  # fmt: skip
_WORDS = {
    "Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "Neg": "a minus sign",
    "Pos": "a plus sign", "Slice": "[a:b]", "AssignBlock": "set without =", "NSRef": "namespace",
    "FilterBlock": "filter as a block", "CallBlock": "call", "FromImport": "import",
}  # fmt: skip


class NotAllowed(Exception):
    """A template holds what none may hold, in this line of it (from 1)."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


def require_allowed(tree: "nodes.Template") -> None:
    """Raises NotAllowed for anything but facts, if, for, joined texts, comparisons and a few filters and tests."""
    waiting: list[tuple[nodes.Node, int, int]] = [(tree, 0, 0)]
    # No recursion: how deep a text is nested is its author's choice.
    while waiting:
        node, depth, loops = waiting.pop()
        kind = type(node).__name__
        if depth > DEPTH_MAX:
            raise NotAllowed(node.lineno, "it is nested too deeply")
        if kind not in _NODES:
            raise NotAllowed(node.lineno, f"{_WORDS.get(kind, kind.lower())} may not be used")
        for what in _wrong(node):
            raise NotAllowed(node.lineno, what)
        loops += kind == "For"
        if loops > LOOPS_MAX:
            raise NotAllowed(node.lineno, f"at most {LOOPS_MAX} loops may stand in each other")
        waiting.extend((child, depth + 1, loops) for child in node.iter_child_nodes())


def _wrong(node: "nodes.Node") -> Iterator[str]:
    from jinja2 import nodes

    match node:
        case nodes.For(iter=over, recursive=recursive):
            if recursive or not isinstance(over, nodes.Name | nodes.Getattr):
                yield "for goes over a fact or a field of one, and over nothing else"
        case nodes.Assign(target=target, node=value):
            if not isinstance(target, nodes.Name) or not _is_table(value):
                yield "set makes tables of fixed texts only: {% set words = {'a': 'b'} %}"
        case nodes.Call():
            if not _looks_up(node):
                yield "nothing may be called but a table's get(name, otherwise)"
        case nodes.Getitem(arg=nodes.Slice()):
            yield "[a:b] may not be used"
        case nodes.Test():
            if node.name not in TESTS or _has_more(node) or node.args:
                yield f"the test {node.name} may not be used; there are {', '.join(TESTS)}"
        case nodes.Filter():
            yield from _wrong_filter(node)


def _wrong_filter(node: "nodes.Filter") -> Iterator[str]:
    from jinja2 import nodes

    given = [one.value if isinstance(one, nodes.Const) else None for one in node.args]
    if node.name not in FILTERS:
        yield f"the filter {node.name} may not be used; there are {', '.join(FILTERS)}"
    elif _has_more(node):
        yield f"the filter {node.name} takes no names or stars here"
    elif node.name == "join":
        # A text joined again and again would grow by each time.
        is_fact = isinstance(node.node, nodes.Name | nodes.Getattr)
        if (
            not is_fact
            or len(given) > 1
            or not all(isinstance(one, str) and len(one) <= SEPARATOR_MAX for one in given)
        ):
            yield f"join takes a fact, and a fixed text of at most {SEPARATOR_MAX} characters"
    elif node.name == "replace":
        old, new = given if len(given) == 2 else (None, None)
        if not (isinstance(old, str) and isinstance(new, str) and old and len(new) <= len(old)):
            yield "replace takes two fixed texts, the second no longer than the first"
    elif node.name == "trim" and given:
        yield "trim takes nothing"


def _has_more(node: "nodes.Filter | nodes.Test | nodes.Call") -> bool:
    return bool(node.kwargs or node.dyn_args or node.dyn_kwargs)


def _looks_up(node: "nodes.Call") -> bool:
    from jinja2 import nodes

    called = node.node
    is_get = isinstance(called, nodes.Getattr) and called.attr == "get" and isinstance(called.node, nodes.Name)
    return is_get and len(node.args) in (1, 2) and not _has_more(node)


def _is_table(value: "nodes.Node") -> bool:
    from jinja2 import nodes

    return isinstance(value, nodes.Dict) and all(
        isinstance(pair.key, nodes.Const) and isinstance(pair.value, nodes.Const) for pair in value.items
    )
