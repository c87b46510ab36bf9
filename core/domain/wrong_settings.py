"""What is wrong with a setting, in the words of whoever writes it: a file of settings, or a runner's. Pure."""

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_WANTED = {
    "int_parsing": "a whole number", "int_type": "a whole number", "int_from_float": "a whole number",
    "float_parsing": "a number", "float_type": "a number", "string_type": "a text in quotes",
    "model_type": "a table", "model_attributes_type": "a table", "dict_type": "a table",
}  # fmt: skip


def wrong_setting(problem: "ErrorDetails") -> str:
    """One problem of a validation. Its value is repeated where the problem holds it.

    What may be a secret is left out by `error.errors(include_input=False)`.
    """
    wanted = _WANTED.get(problem["type"])
    if problem["type"] == "extra_forbidden":
        return "there is no such setting"
    if wanted is not None:
        if "input" not in problem:
            return f"it is {wanted}"
        return f"it is {wanted}, not {json.dumps(problem['input'], ensure_ascii=False, default=str)[:100]}"
    bound = next((str(problem["ctx"][name]) for name in ("ge", "le", "gt") if name in problem.get("ctx", {})), "")
    match problem["type"]:
        case "greater_than_equal":
            return f"it is at least {bound}"
        case "less_than_equal":
            return f"it is at most {bound}"
        case "greater_than":
            return f"it is more than {bound}"
        case "missing":
            return "it is needed"
        case "literal_error":
            return f"it is {problem['ctx']['expected']}"
    return problem["msg"]
