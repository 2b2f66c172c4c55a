#!/bin/bash
# Commands without a model: fields, outcomes, and their commits.
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

api POST /containers/ex/exec '{"commands": ["echo 1", "false", "kill -9 $$", "echo \"$A\" >f; cat; pwd"], "env": {"A": "v w"}, "stdin": "in\n", "tool": "bash"}' >"$work/exec"
check "the answer is a container.exec of a new container" is "$work/exec" '.object == "container.exec" and .container_id == "ex" and .started == "new"'
check "a failing command does not stop the later ones" is "$work/exec" '.output | length == 4 and .[0].stdout == "1\n" and .[1].outcome == {"type": "exit", "exit_code": 1}'
check "a signal is named" is "$work/exec" '.output[2].outcome == {"type": "signal", "signal": "SIGKILL"}'
check "environment and standard input arrive" is "$work/exec" '.output[3].stdout == "in\n/home/sandbox\n"'
check "the command that changed a file names its commit, the others none" is "$work/exec" '[.output[].commit != null] == [false, false, false, true]'
check "usage counts sandbox time" is "$work/exec" '.usage.sandbox_seconds >= 1 and .usage.cost > 0'
check "the commit is on disk" bash -c "git -C '$STACK/homes/default/ex.git' cat-file -e $(jq -r '.output[3].commit' "$work/exec")"
run_in ex 'mkdir d; echo x >d/g; pwd' '"cwd": "."'
run_in ex 'pwd' '"cwd": "d"'
check "cwd is beneath the home" is "$work/exec" '.output[0].stdout == "/home/sandbox/d\n" and .started == "warm"'
check "cwd outside the home is refused" status 400 POST /containers/ex/exec '{"command": "pwd", "cwd": "../.."}'
check "no command is a 400 that names the field" status 400 POST /containers/ex/exec '{}'
check "too many are too" status 400 POST /containers/ex/exec "$(jq -cn '{commands: [range(101) | "true"]}')"
check "a hundred are not" status 200 POST /containers/ex/exec "$(jq -cn '{commands: [range(100) | "true"]}')"
check "a command of 16,385 characters is refused" status 400 POST /containers/ex/exec "$(jq -cn '{command: ("#" * 16385)}')"
check "one of 16,384 is not, whatever the characters" status 200 POST /containers/ex/exec "$(jq -cn '{command: ("#" + "😀" * 16383)}')"
check "a NUL in a command is refused" status 400 POST /containers/ex/exec '{"command": "a\u0000b"}'
check "an id of 41 characters is refused" status 400 POST "/containers/$(printf 'a%.0s' $(seq 41))/exec" '{"command": "true"}'
run_in ex 'rm -rf d f'
check "deletions are a commit" is "$work/exec" '.output[0].commit != null'
check "and an empty tree remains" bash -c "[ -z \"\$(git -C '$STACK/homes/default/ex.git' ls-tree -r main)\" ]"
run_in ex 'printf "a\0b\377c"'
check "NUL in output is kept, invalid UTF-8 replaced" is "$work/exec" '.output[0].stdout == "a\u0000b\ufffdc"'
