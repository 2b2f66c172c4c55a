#!/bin/bash
# The Responses API runs a model's command in a container and gives item, citation and message.
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

sum='python3 -c "print(sum(range(1,101)))"'
api POST /responses "$(responses_body "$(fenced "$sum")")" >"$work/a"
check "a command's output comes back in an openrouter:shell item" \
	is "$work/a" '.output[0] | .type == "openrouter:shell" and .status == "completed" and .output[0].stdout == "5050\n"'
check "its outcome is exit 0" \
	is "$work/a" '.output[0].output[0].outcome == {"type": "exit", "exit_code": 0}'
check "the container is named" is "$work/a" '.output[0].container_id | test("^gen_[0-9a-f]{12}$")'
check "a message follows" is "$work/a" '.output[1] | .type == "message" and (.content[0].text | contains("5050"))'
check "the response is completed, with usage" \
	is "$work/a" '.status == "completed" and .usage.total_tokens > 0 and .usage.server_tool_use_details.tool_calls_executed == 1'
check "ids of the request are in the headers" grep -qiE '^x-request-id: req_' "$work/headers"
check "the generation's too" grep -qiE '^x-generation-id: gen-' "$work/headers"

api POST /responses "$(responses_body "$(fenced "$sum")" '"stream": true')" -N >"$work/s"
grep '^data: {' "$work/s" | sed 's/^data: //' | jq -cs . >"$work/events"
check "a stream starts with response.created" is "$work/events" '.[0].type == "response.created" and .[1].type == "response.in_progress"'
check "ends with response.completed" is "$work/events" '.[-1].type == "response.completed"'
check "and [DONE]" bash -c "tail -n 2 '$work/s' | grep -qx 'data: \[DONE\]'"
check "numbers its events from 0 without a gap" is "$work/events" '[.[].sequence_number] == [range(length)]'
check "shows the shell item as added, then done" \
	is "$work/events" '[.[] | select(.item.type == "openrouter:shell") | .type] == ["response.output_item.added", "response.output_item.done"]'
check "with the same output as without a stream" \
	is "$work/events" '.[-1].response.output[0].output[0].stdout == "5050\n"'

api POST /responses "$(responses_body "$(fenced 'mkdir -p out; echo a >out/a.txt; echo b >b.txt')" '"session_id": "cite"')" >"$work/a"
check "files that a command wrote are cited" \
	is "$work/a" '[.output[0].files[].filename] | sort == ["b.txt", "out/a.txt"]'
check "as container_file_citation of the session's container" \
	is "$work/a" '.output[0].files[0] | .type == "container_file_citation" and .container_id == "sess_cite" and .start_index == 0'

api POST /responses '{"model": "sandgate/script", "input": "hello"}' >"$work/a"
check "without a tool the model answers with text" is "$work/a" '.output | length == 1 and .[0].type == "message"'
