#!/bin/bash
# kill -9 of a worker, of boxes and of boxd while twenty clients run commands: whatever was answered is there afterwards.
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

# One client: appends a line a command to a file of its container, noting the numbers that were answered as done.
client() {
	local n=$1 i
	for ((i = 1; i <= 400; i++)); do
		[ ! -e "$work/enough" ] || return 0
		curl -sS -m 60 "$URL/containers/kill-$n/exec" -H "Authorization: Bearer $KEY" \
			-H 'Content-Type: application/json' -d "{\"command\": \"echo $i >>log; sync; echo $i >last\"}" 2>/dev/null |
			jq -e '.output[0].outcome == {"type": "exit", "exit_code": 0} and .output[0].commit != null' >/dev/null 2>&1 &&
			echo "$i" >>"$work/answered-$n"
	done
}

clients=()
for n in $(seq 20); do
	client "$n" &
	clients+=($!)
done
sleep 1
supervisor=$(cat "$STACK/run/stack.pid")
boxd=$(cat "$STACK/run/boxd.pid")
app=$(cat "$STACK/run/app.pid")
workers=$(pgrep -P "$app")
kill -9 "$(head -n 1 <<<"$workers")"
sleep 0.5
for box in $(pgrep -P "$boxd" -x sandgate-box | head -n 3); do
	kill -9 "$box" 2>/dev/null
done
sleep 0.5
kill -9 "$boxd"
sleep 3
touch "$work/enough"
wait "${clients[@]}"

for _ in $(seq 100); do
	curl -fsS "${URL%/api/v1}/healthz" >/dev/null 2>&1 && break
	sleep 0.1
done
check "the supervisor is still the same" kill -0 "$supervisor"
check "boxd was started again" bash -c "[ \$(cat '$STACK/run/boxd.pid') != $boxd ]"
check "the killed worker was replaced" bash -c "[ \$(pgrep -c -P $app) = $(wc -l <<<"$workers") ]"
answered=$(cat "$work"/answered-* | wc -l)
check "commands were answered before and after ($answered)" [ "$answered" -ge 100 ]
check "boxes died of it" grep -q 'ended with status 0x9' "$STACK/log/boxd.log"

lost=0
for n in $(seq 20); do
	run_in "kill-$n" 'cat log'
	jq -r '.output[0].stdout' "$work/exec" >"$work/log"
	while read -r i; do
		grep -qx "$i" "$work/log" || {
			echo "container kill-$n lost command $i" >&2
			lost=$((lost + 1))
		}
	done <"$work/answered-$n"
done
check "every answered command's line is there" [ $lost = 0 ]
sound() {
	local n
	for n in $(seq 20); do
		! repo "kill-$n" fsck --strict --no-dangling 2>&1 | grep -v '^notice: ' || return 1
	done
}
check "each repository is sound" sound
