#!/bin/bash
# What is wrong with a request is said with the right status, in the envelope of its API.
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

as() { # HEADER STATUS METHOD …
	AUTH=$1 status "${@:2}"
}

check "no key is a 401" as 'X-None: 1' 401 GET /models
check "in OpenAI's envelope" is "$work/answer" '.error.message == "Missing Authentication header" and .error.code == 401'
check "an unknown key too" as 'Authorization: Bearer sk-sg-aaaaaaaa-x' 401 GET /models
check "on messages in Anthropic's envelope" as 'X-None: 1' 401 POST /messages '{}'
check "which names the type" is "$work/answer" '.type == "error" and .error.type == "authentication_error" and has("request_id")'
check "an unknown path is a 404" status 404 GET /nothing
check "a wrong method is a 405" status 405 DELETE /models
check "with the right ones in Allow" grep -qiE '^allow: .*GET' "$work/headers"
check "bad JSON is a 400" status 400 POST /responses '{"model": }'
check "that names the position" is "$work/answer" '.error.message | test("[0-9]")'
check "a missing model is a 400 that names it" status 400 POST /responses '{"input": "x"}'
check "by its field" is "$work/answer" '.error.param == "model"'
check "an unknown model is named" status 404 POST /responses '{"model": "no/such", "input": "x"}'
check "store is refused, with what to do instead" status 400 POST /responses '{"model": "sandgate/script", "input": "x", "store": true}'
check "openrouter:bash on responses is a 400" status 400 POST /responses '{"model": "sandgate/script", "input": "x", "tools": [{"type": "openrouter:bash"}]}'
check "a bad container id is a 400" status 400 POST /responses "$(responses_body x '"tools": [{"type": "openrouter:shell", "parameters": {"environment": {"type": "container_reference", "container_id": "a b"}}}]')"
head -c 11000000 /dev/zero | tr '\0' ' ' >"$work/big"
check "a body over the route's limit is a 413" status 413 POST /containers/x/exec '' --data-binary "@$work/big" -H 'Content-Type: application/json'
check "healthz needs no key" bash -c "curl -fsS '${URL%/api/v1}/healthz' | jq -e '.status == \"ok\"'"
status 200 GET /models >/dev/null
check "the built-in model is listed" is "$work/answer" '.data | any(.id == "sandgate/script")'
