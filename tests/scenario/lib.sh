# shellcheck shell=bash
# What scenarios share. A scenario is a script NN-what.sh: its goal in a comment at the top, then checks.
# Given by tests/scenario/run: STACK (folder of a running stack), URL (…/api/v1), KEY, RESULTS (a file).
set -uo pipefail
: "${STACK:?run through tests/scenario/run}" "${URL:?}" "${KEY:?}" "${RESULTS:?}"
# shellcheck disable=SC2034 # for the scenarios
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
work=$(mktemp -d /tmp/sandgate-scenario.XXXXXX)
trap 'rm -rf "$work"' EXIT
# Root looks at repositories of another user.
export GIT_CONFIG_GLOBAL=$work/gitconfig
git config --global safe.directory '*'

# check NAME COMMAND…: one behaviour; what the command prints is shown when it fails.
check() {
	local name=$1 output
	shift
	if output=$("$@" 2>&1); then
		echo "ok   $name"
		echo ok >>"$RESULTS"
	else
		echo "FAIL $name"
		printf '%s\n' "$output" | head -c 4000 | sed 's/^/     | /'
		echo fail >>"$RESULTS"
	fi
}

# skip NAME REASON: what cannot be shown on this machine.
skip() {
	echo "skip $1: $2"
	echo skip >>"$RESULTS"
}

# api METHOD PATH [JSON] [curl options…]: the body of the answer; status in $work/status, headers in $work/headers.
# AUTH, if set, is sent in place of the key's header.
api() {
	local method=$1 path=$2 body=${3-}
	shift 2
	[ $# -gt 0 ] && shift
	local data=()
	[ -z "$body" ] || data=(-H 'Content-Type: application/json' --data-binary "$body")
	curl -sS -m 120 -X "$method" "$URL$path" -H "${AUTH-Authorization: Bearer $KEY}" "${data[@]}" \
		-D "$work/headers" -w '%{stderr}%{http_code}' "$@" 2>"$work/status"
}

# is FILE FILTER: the jq filter is true for the file; shows the file if not.
is() {
	jq -e "$2" "$1" >/dev/null || {
		echo "not true: $2"
		head -c 3000 "$1"
		return 1
	}
}

# status CODE METHOD PATH [JSON] [curl options…]: the request is answered with that status.
status() {
	local expected=$1
	shift
	api "$@" >"$work/answer"
	[ "$(tail -c 3 "$work/status")" = "$expected" ] || {
		echo "expected $expected, got $(cat "$work/status")"
		head -c 2000 "$work/answer"
		return 1
	}
}

# run_in CONTAINER COMMAND [EXTRA JSON MEMBERS]: exec without a model; the answer in $work/exec.
run_in() {
	local body
	body=$(jq -cn --arg c "$2" --argjson extra "{${3-}}" '{command: $c} + $extra')
	api POST "/containers/$1/exec" "$body" >"$work/exec"
}

# prints CONTAINER COMMAND TEXT: the command's standard output is exactly that text.
prints() {
	run_in "$1" "$2"
	local got
	got=$(jq -r '.output[0].stdout' "$work/exec")
	[ "$got" = "$3" ] || {
		printf 'expected %q, got %q\n' "$3" "$got"
		head -c 2000 "$work/exec"
		return 1
	}
}

# git in the repository of a container of the key's workspace.
repo() {
	git -C "$STACK/homes/default/$1.git" "${@:2}"
}

# A request to a model API whose user text is the given one, with the shell tool; further members as JSON.
responses_body() {
	jq -cn --arg text "$1" --argjson extra "{${2-}}" \
		'{model: "sandgate/script", input: $text, tools: [{type: "openrouter:shell", parameters: {engine: "openrouter"}}]} + $extra'
}
messages_body() {
	jq -cn --arg text "$1" --argjson extra "{${2-}}" \
		'{model: "sandgate/script", max_tokens: 1024, messages: [{role: "user", content: $text}],
		  tools: [{type: "openrouter:shell", parameters: {engine: "openrouter"}}]} + $extra'
}
# A fenced block with the command.
fenced() {
	printf '```sh\n%s\n```' "$1"
}
