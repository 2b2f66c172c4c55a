#!/bin/bash
# A client that goes away takes its running command with it; files written before are saved.
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

curl -sS -m 1 "$URL/containers/away/exec" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \
	-d '{"command": "echo before >f; sleep 50; echo after >f"}' >/dev/null 2>&1
sleep 1
check "the command of a client that left is gone" prints away 'pgrep -c sleep || true' 0
check "what it wrote before is there" prints away 'cat f' before
check "and is a commit" bash -c "git -C '$STACK/homes/default/away.git' show main:f | grep -qx before"

curl -sS -m 1 -N "$URL/responses" -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \
	-d "$(responses_body "$(fenced 'sleep 51')" '"session_id": "away2", "stream": true')" >/dev/null 2>&1
sleep 1
check "so is one of a streamed model request" prints sess_away2 'pgrep -c sleep || true' 0
