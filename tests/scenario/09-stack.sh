#!/bin/bash
# The stack starts and stops like a service: clear refusals, side by side, nothing left behind.
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"
stack=$top/conf/local-stack
port=${URL#*127.0.0.1:}
port=${port%%/*}

nobody() { # no process of the second stack
	! pgrep -af "sandgate.*$work/second"
}
refused() { # PATTERN COMMAND…: exits 1 with one line that matches
	local pattern=$1 output
	shift
	output=$("$@" 2>&1) && return 1
	if [ "$(wc -l <<<"$output")" != 1 ] || ! grep -qE "$pattern" <<<"$output"; then
		echo "$output"
		return 1
	fi
}
check "a port in use is refused with what to do" refused 'port .* in use.*--port' "$stack" start --dir "$work/second" --port "$port"
check "a second stack in the same folder too" refused 'already runs' "$stack" start --dir "$STACK" --port $((port + 7))
check "a bad port is named" refused 'expected 1 to 65535' "$stack" start --dir "$work/second" --port 99999

# In a mount namespace of its own, so that the machine keeps what is taken away here.
without_cgroups() {
	unshare -m --propagation private bash -c 'umount -l /sys/fs/cgroup/unified 2>/dev/null || umount -l /sys/fs/cgroup; "$@"' _ "$@"
}
check "a kernel feature that is off is named with how to enable it" \
	refused 'sandgate-boxd: host: .*mount' without_cgroups "$stack" start --dir "$work/second" --port $((port + 1))
check "and nothing is left running" nobody

check "another stack runs beside it" "$stack" start --dir "$work/second" --port $((port + 1))
check "status says that it is healthy" "$stack" status --dir "$work/second"
other=$(cat "$work/second/api-key")
strange() { AUTH="Authorization: Bearer $other" status "$@"; }
check "each has keys of its own" strange 401 GET /models
(URL=http://127.0.0.1:$((port + 1))/api/v1 KEY=$other && run_in beside 'echo x >f; echo beside')
check "and containers of its own" is "$work/exec" '.output[0].stdout == "beside\n"'
supervisor=$(cat "$work/second/run/stack.pid")
boxd=$(cat "$work/second/run/boxd.pid")
check "the key is readable by its owner only" bash -c "[ \$(stat -c %a '$work/second/api-key') = 600 ]"
check "it stops" "$stack" stop --dir "$work/second"
check "its supervisor and boxd are gone" bash -c "! kill -0 $supervisor 2>/dev/null && ! kill -0 $boxd 2>/dev/null"
check "no process of it is left" nobody
check "status says that it is not running" bash -c "'$stack' status --dir '$work/second'; [ \$? = 3 ]"

echo 'nonsense = 1' >>"$work/second/sandgate.conf"
check "an unknown setting stops the start with file and line" refused 'sandgate\.conf:[0-9]+' "$stack" start --dir "$work/second" --port $((port + 1))
check "with nothing left running" nobody
sed -i '/^nonsense/d' "$work/second/sandgate.conf"
check "files and key are still there after the next start" "$stack" start --dir "$work/second" --port $((port + 1))
(URL=http://127.0.0.1:$((port + 1))/api/v1 KEY=$other && run_in beside 'cat f')
check "the container is woken with its file" is "$work/exec" '.started == "woken" and .output[0].stdout == "x\n"'
"$stack" stop --dir "$work/second"
