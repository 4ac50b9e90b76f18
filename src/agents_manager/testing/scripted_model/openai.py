"""What OpenAI's two APIs share: who may ask, and the shape of an error."""

from agents_manager.testing.scripted_model.wire import Call, Json, Refused

KINDS = {
    401: ("invalid_request_error", "invalid_api_key"),
    403: ("invalid_request_error", "unsupported_country_region_territory"),
    404: ("invalid_request_error", "model_not_found"),
    429: ("requests", "rate_limit_exceeded"),
    500: ("server_error", None),
    503: ("server_error", None),
}


def check(call: Call, *fields: str) -> None:
    if not call.headers.get("authorization", "").startswith("Bearer "):
        raise Refused(401, "You didn't provide an API key.")
    for field in fields:
        if not call.body.get(field):
            raise Refused(400, f"Missing required parameter: '{field}'.")


def error(status: int, message: str, kind: str | None) -> Json:
    usual, code = KINDS.get(status, ("invalid_request_error", None))
    return {"error": {"message": message, "type": kind or usual, "param": None, "code": code}}
