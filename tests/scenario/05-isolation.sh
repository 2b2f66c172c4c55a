#!/bin/bash
# A command sees a small machine of its own, and ends when its time is up.
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

check "it is the user sandbox in its home" prints iso 'id -u; id -un; pwd; echo $HOME' $'1000\nsandbox\n/home/sandbox\n/home/sandbox'
check "it has no capability" prints iso 'grep -cE "^Cap.*:[[:space:]]*0{16}$" /proc/self/status' 5
check "it cannot gain privileges and is filtered" prints iso 'grep -E "^(NoNewPrivs|Seccomp):" /proc/self/status | tr -d "\t"' $'NoNewPrivs:1\nSeccomp:2'
check "the system is read-only" prints iso 'touch /usr/x 2>/dev/null || echo refused' refused
check "loopback is the only interface" prints iso 'tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " "' lo
check "it sees only its own processes" prints iso 'ls /proc | grep -cE "^[0-9]+$" | awk "{print (\$1 < 8)}"' 1
check "no descriptor leaks in" prints iso 'ls /proc/self/fd | grep -vxE "[0-3]" | wc -l' 0
check "/sys is not there" prints iso 'test -e /sys/kernel || echo none' none
check "/workspace/home is the home" prints iso 'echo hi >f; cat /workspace/home/f' hi
check "another container's files are not there" prints iso2 'ls -A' ''

run_in iso "curl -sS -m 5 http://127.0.0.1:${URL#*127.0.0.1:} 2>&1; curl -sS -m 5 http://192.0.2.1/ 2>&1; curl -sS -m 5 http://example.com 2>&1; echo end"
check "curl reaches nothing, neither the host's loopback nor an address nor a name" \
	is "$work/exec" '.output[0].stdout | (test("HTTP|html|data") | not) and endswith("end\n")'
check "and is refused at once" is "$work/exec" '.output[0].duration_ms < 4000'

run_in iso 'setsid sleep 60 & (setsid sh -c "sleep 61 & sleep 62") & sleep 63' '"timeout_ms": 1000'
check "a command past its time is a timeout" is "$work/exec" '.output[0].outcome.type == "timeout"'
check "soon after" is "$work/exec" '.output[0].duration_ms >= 1000 and .output[0].duration_ms < 5000'
check "and nothing that it started is left" prints iso 'pgrep -c sleep || true' 0
check "a background process of a command that ended lives on" prints iso 'sleep 77 >/dev/null 2>&1 & disown; true; exit 0' ''
check "until the container sleeps" prints iso 'pgrep -c sleep' 1

run_in iso ':(){ :|:& };: ; sleep 20' '"timeout_ms": 1500'
check "a fork bomb ends at the deadline" is "$work/exec" '.output[0].outcome.type == "timeout"'
check "and the container answers" prints iso 'echo fine | cat' fine
run_in iso ':(){ :|:& };:'
sleep 0.5
run_in iso 'true'
check "one in the background is ended by the next command that finds no room" prints iso 'echo fine | cat' fine
run_in iso 'python3 -c "x = bytearray(3 << 30)"'
check "a memory bomb ends as out of memory" is "$work/exec" '.output[0].outcome.type == "out_of_memory"'
check "and does not take the container down" prints iso 'echo fine' fine
run_in iso 'dd if=/dev/zero of=big bs=1M count=4096 ; rm -f big'
check "a full home is the tool's own error" is "$work/exec" '.output[0] | .outcome.type == "exit" and (.stderr | contains("No space left on device"))'
check "and the container goes on" prints iso 'echo fine >f && cat f' fine
run_in iso 'yes | head -c 50000000' '"max_output_length": 100'
check "output is cut to the cap, head and tail" \
	is "$work/exec" '.output[0] | (.stdout | length <= 100) and .omitted.stdout > 49999000 and (.stdout | test("characters omitted"))'
