#!/bin/bash
# One session is one container: files stay, also over a sleep; every command that changed files is a commit.
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

session='"session_id": "keep-1"'
api POST /responses "$(responses_body "$(fenced 'echo one >note.txt')" "$session")" >"$work/a"
api POST /responses "$(responses_body "$(fenced 'cat note.txt')" "$session")" >"$work/b"
check "a second request reads the first one's file" is "$work/b" '.output[0].output[0].stdout == "one\n"'
check "one command changed files: one commit" bash -c "[ \$(git -C '$STACK/homes/default/sess_keep-1.git' rev-list --count main) = 1 ]"
check "its subject is the command" bash -c "git -C '$STACK/homes/default/sess_keep-1.git' log -1 --format=%s | grep -qx 'echo one >note.txt'"
check "its author is the tool" bash -c "git -C '$STACK/homes/default/sess_keep-1.git' log -1 --format='%an %ae' | grep -qx 'shell sess_keep-1@default'"
check "its trailers tell outcome and request" bash -c "git -C '$STACK/homes/default/sess_keep-1.git' log -1 --format=%B | grep -qx 'Outcome: exit 0'"

mapping='printf aaaa >m; python3 -c "
import mmap, time
f = open(\"m\", \"r+b\")
m = mmap.mmap(f.fileno(), 4)
m[0:1] = b\"b\"
time.sleep(1)
m[1:2] = b\"c\"
time.sleep(60)" >/dev/null 2>&1 & sleep 0.5'
run_in mapped "$mapping" '"sleep_after_seconds": 2'
check "a store through a mapping is in the command's commit" bash -c "git -C '$STACK/homes/default/mapped.git' show main:m | grep -qx baaa"

run_in nap 'mkdir -p a/b empty; printf x >a/b/c; ln -s a/b/c link; chmod 700 a/b/c; git init -q g && cd g && git -c user.name=n -c user.email=e@x commit -q --allow-empty -m m; echo $$ >/tmp/gone' '"sleep_after_seconds": 1'
sleep 3 # the container's second, and time to save and go
run_in nap 'cat a/b/c; readlink link; stat -c %a a/b/c; test -d empty && echo empty; git -C g status --porcelain; git -C g log --format=%s; test -e /tmp/gone || echo fresh'
check "after a sleep the container is woken" is "$work/exec" '.started == "woken"'
check "files, links, modes, empty folders and a .git survive; /tmp does not" \
	is "$work/exec" '.output[0].stdout == "xa/b/c\n700\nempty\nm\nfresh\n"'
check "waking changed nothing" is "$work/exec" '.output[0].commit == null'
sleep 1
check "one after the command has ended is saved at sleep" prints mapped 'cat m' bcaa
check "in a commit of its own" bash -c "git -C '$STACK/homes/default/mapped.git' log -1 --format=%an | grep -qx sleep"
check "git clones it" git clone -q "$STACK/homes/default/nap.git" "$work/clone"
