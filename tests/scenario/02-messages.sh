#!/bin/bash
# The Messages API does the same in Anthropic's shapes, for shell and for bash.
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

api POST /messages "$(messages_body "$(fenced 'echo hello; echo oops >&2; exit 3')")" >"$work/a"
check "a server_tool_use block names the tool" \
	is "$work/a" '.content[0] | .type == "server_tool_use" and .name == "openrouter:shell" and .input.commands == ["echo hello; echo oops >&2; exit 3"]'
check "its result follows, paired by id" \
	is "$work/a" '.content[1].type == "openrouter_shell_tool_result" and .content[1].tool_use_id == .content[0].id'
check "with both streams and the exit code" \
	is "$work/a" '.content[1].content.output[0] == {"stdout": "hello\n", "stderr": "oops\n", "outcome": {"type": "exit", "exit_code": 3}}'
check "then text, and end_turn" is "$work/a" '.content[2].type == "text" and .stop_reason == "end_turn"'
check "request-id is in the headers" grep -qiE '^request-id: req_' "$work/headers"

api POST /messages "$(messages_body "$(fenced 'echo hello')" '"stream": true')" -N >"$work/s"
grep -oE '^event: .*' "$work/s" | cut -c8- | uniq >"$work/names"
check "a stream has one message_start, first" bash -c "head -n 1 '$work/names' | grep -qx message_start && [ \$(grep -cx message_start '$work/names') = 1 ]"
check "block indexes count up over the whole message" \
	bash -c "grep '\"content_block_start\"' '$work/s' | sed 's/^data: //' | jq -s -e '[.[].index] == [range(length)] and length == 3' >/dev/null"
check "message_delta carries the stop reason and usage" \
	bash -c "grep '\"message_delta\"' '$work/s' | sed 's/^data: //' | jq -e '.delta.stop_reason == \"end_turn\" and .usage.output_tokens > 0' >/dev/null"
check "message_stop is there" grep -qx 'event: message_stop' "$work/s"

bash_tool() { messages_body "$1" "\"tools\": [{\"type\": \"openrouter:bash\", \"parameters\": {$2}}]"; }
api POST /messages "$(bash_tool "$(fenced 'echo from bash')" '"engine": "openrouter"')" >"$work/a"
check "openrouter:bash with engine openrouter runs here" \
	is "$work/a" '.content[1] | .type == "openrouter_bash_tool_result" and .content.stdout == "from bash\n" and .content.exitCode == 0'

check "x-api-key is accepted as well" \
	bash -c "curl -sS '$URL/messages' -H 'x-api-key: $KEY' -H 'anthropic-version: 2023-06-01' -H 'content-type: application/json' -d '$(messages_body hi)' | jq -e '.type == \"message\"'"
