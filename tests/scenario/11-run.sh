#!/bin/bash
# `make run`'s script shows a command's answer, how to repeat it, and takes everything down when it is told to end.
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"
port=${URL#*127.0.0.1:}
port=$((${port%%/*} + 2))

DIR=$work/var PORT=$port "$top/conf/run" >"$work/out" 2>&1 &
run=$!
for _ in $(seq 200); do
	grep -q 'Ctrl-C' "$work/out" && break
	sleep 0.1
done
check "the demonstration's answer is printed" grep -q '"stdout":"5050\\n"' "$work/out"
sed -n "/^curl /,/^}'/p" "$work/out" >"$work/again"
bash "$work/again" >"$work/answer" 2>/dev/null
check "the printed curl works" is "$work/answer" '.output[0].output[0].stdout == "5050\n"'
supervisor=$(cat "$work/var/run/stack.pid")
kill -TERM $run
wait $run
check "its end is a clean one" [ $? = 0 ]
gone() {
	! kill -0 "$supervisor" && ! pgrep -af "sandgate.*$work/var"
}
check "and nothing is left running" gone
