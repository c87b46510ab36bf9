"""OpenAPI 3.1 of the routes, made from the table and the models of the registries."""

import functools
from typing import Any

from core.reading.offered import function
from core.server.callers import KEY_MAX
from core.server.table import ROWS, Row

_REF = "#/components/schemas/{model}"
_ERRORS = {
    401: "no token, or one that is not known",
    403: "not for this caller, or its run is over",
    404: "no such thing",
    408: "the body did not come in time",
    409: "the state does not allow it; the message names what is possible",
    413: "the body is too large",
    421: "not a name of this machine",
    422: "a field is wrong; the message names it and the known ones",
    429: "too many requests",
    503: "the board is not usable now",
}
_ERROR_SCHEMA = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message", "hint"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string", "description": "What happened and what was kept"},
                "hint": {"type": "string", "description": "What to do next"},
                "request_id": {"type": "string"},
            },
        }
    },
}
_ANSWER = {
    "type": "object",
    "required": ["answer"],
    "properties": {"answer": {"type": "object"}},
}


@functools.cache
def document() -> dict[str, Any]:
    """The whole document. Takes a while the first time: ask for it in a thread."""
    schemas: dict[str, Any] = {"Error": _ERROR_SCHEMA, "Answer": _ANSWER}
    paths: dict[str, dict[str, Any]] = {}
    seen: dict[str, int] = {}
    for row in ROWS:
        seen[row.name] = seen.get(row.name, 0) + 1
        number = seen[row.name]
        operation_id = row.name if number == 1 else f"{row.name}{number}"
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row, operation_id, schemas)
    paths["/api/events"] = {"get": _events()}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Opsroom", "version": "1", "description": "A company's blackboard."},
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": {
                f"E{status}": {"description": words, "content": _json({"$ref": _REF.format(model="Error")})}
                for status, words in _ERRORS.items()
            },
        },
    }


def _operation(row: Row, operation_id: str, schemas: dict[str, Any]) -> dict[str, Any]:
    schema = _schema(row, schemas)
    properties: dict[str, Any] = dict(schema.get("properties", {}))
    in_path = {name: properties.pop(name) for name in row.in_path}
    required = [name for name in schema.get("required", ()) if name in properties]
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": _plain(one)} for name, one in in_path.items()
    ]
    operation: dict[str, Any] = {
        "operationId": operation_id,
        "summary": function(row.name, row.of.about, row.of.model)["function"]["description"],
        "responses": _responses(),
    }
    example = {name: value for name, value in row.of.example.items() if name in properties}
    if row.method == "GET":
        parameters += [
            {"name": name, "in": "query", "required": name in required, "schema": _plain(one)}
            for name, one in properties.items()
        ]
    else:
        parameters.append(
            {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string", "maxLength": KEY_MAX}}
        )
        body = {"type": "object", "properties": properties, "additionalProperties": False}
        content = _json({**body, "required": required} if required else body)
        if example or not required:
            content["application/json"]["example"] = example
        operation["requestBody"] = {"required": bool(required), "content": content}
    return {**operation, "parameters": parameters}


def _schema(row: Row, schemas: dict[str, Any]) -> dict[str, Any]:
    schema = row.of.model.model_json_schema(ref_template=_REF)
    schemas.update(schema.pop("$defs", {}))
    return schema


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A parameter's schema: what is not said is left out of the address, never null."""
    parts = [part for part in schema.get("anyOf", ()) if part.get("type") != "null"]
    if len(parts) != 1:
        return schema
    rest = {name: value for name, value in schema.items() if name not in ("anyOf", "default")}
    return {**rest, **parts[0]}


def _responses() -> dict[str, Any]:
    found: dict[str, Any] = {"200": {"description": "done", "content": _json({"$ref": _REF.format(model="Answer")})}}
    return {**found, **{str(status): {"$ref": f"#/components/responses/E{status}"} for status in _ERRORS}}


def _events() -> dict[str, Any]:
    after = {"name": "after", "in": "query", "required": False, "schema": {"type": "integer", "minimum": 0}}
    stream = {"description": "events as they happen", "content": {"text/event-stream": {"schema": {"type": "string"}}}}
    return {
        "operationId": "Events",
        "summary": "What happens on the board, for the operator, from an event's number on (default: from now on).",
        "parameters": [after],
        "responses": {**_responses(), "200": stream},
    }


def _json(schema: dict[str, Any]) -> dict[str, Any]:
    return {"application/json": {"schema": schema}}
