#!/bin/bash
# What a container holds is listed and read over REST, byte for byte, without waking it.
# shellcheck source=tests/scenario/lib.sh
. "$(dirname "$0")/lib.sh"

run_in files 'mkdir out; printf "a,b\r\n1,\0002\n" >out/report.csv; head -c 300000 /dev/urandom >z.bin; sha256sum <z.bin; printf x >"odd name ü"; rm -f nothing'
sum=$(jq -r '.output[0].stdout' "$work/exec" | cut -d' ' -f1)
api GET /containers/files/files >"$work/list"
check "the listing is in path order" is "$work/list" '[.data[].path] == ["odd name ü", "out/report.csv", "z.bin"]'
check "out/report.csv has its documented id" is "$work/list" '.data[1] | .id == "cfile_b3V0L3JlcG9ydC5jc3Y" and .object == "container.file" and .bytes == 10 and .source == "assistant"'
check "each names its commit and mode" is "$work/list" '.data | all((.commit | test("^[0-9a-f]{40}$")) and .mode == "100644")'
api GET /containers/files/files/cfile_b3V0L3JlcG9ydC5jc3Y/content >"$work/csv"
check "its content comes back byte for byte" bash -c "printf 'a,b\r\n1,\0002\n' | cmp - '$work/csv'"
api GET "/containers/files/files/$(jq -r '.data[2].id' "$work/list")/content" >"$work/bin"
check "so does a binary one" bash -c "[ \$(sha256sum <'$work/bin' | cut -d' ' -f1) = $sum ]"
api GET '/containers/files/files?limit=1' >"$work/page"
check "pages follow one another" is "$work/page" '.has_more and (.data | length == 1) and .last_id == .data[0].id'
last=$(jq -r .last_id "$work/page")
api GET "/containers/files/files?limit=5&after=$last" >"$work/page"
check "after a file comes the next one" is "$work/page" '(.has_more | not) and [.data[].path] == ["out/report.csv", "z.bin"]'
run_in files 'rm z.bin; echo new >>out/report.csv'
api GET /containers/files/files >"$work/list"
check "deleted files are gone from the listing, changed ones have their new size" is "$work/list" '[.data[] | [.path, .bytes]] == [["odd name ü", 1], ["out/report.csv", 14]]'
status 200 GET /containers/never/files >/dev/null
check "an unknown container's list is empty" is "$work/answer" '.data == [] and .has_more == false'
check "an unknown file is a 404" status 404 GET /containers/files/files/cfile_bm9uZQ
check "a malformed id is a 400" status 400 GET /containers/files/files/cfile_Li4vLi4vZXRjL3Bhc3N3ZA
