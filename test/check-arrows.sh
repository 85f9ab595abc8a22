#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks what may include and call what, names, comments that must be there, lengths of files and
# functions, and that sources are ASCII. Lists every offence of the first rule that is broken, and
# exits with 1. With --long it prints the longest functions instead.
set -u
LC_ALL=C
export LC_ALL
cd "$(dirname "$0")/.." || exit 1

# rule TEXT: fails with the lines of standard input, if there are any.
rule() {
    found=$(cat)
    if [ -n "$found" ]; then
        printf 'check-arrows: %s:\n%s\n' "$1" "$found" >&2
        exit 1
    fi
}

# includes NAMES FOLDER...: include lines whose header matches the extended expression NAMES.
includes() {
    names=$1
    shift
    for folder in "$@"; do
        [ -e "$folder" ] && grep -rnE --include='*.[ch]' \
            "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($names)[>\"]" "$folder"
    done
    true
}

# Names of a folder's headers as they can be included: by last part or by path.
headers() {
    find "$@" -name '*.h' 2>/dev/null | sed 's|.*/||; s|[.]|[.]|g; s|^|([^">]*/)?|' | paste -sd '|' -
}

# Prints "FILE:LINE:TEXT" of all C code with comments and strings blanked, for searches of calls.
code() {
    for folder in "$@"; do
        [ -d "$folder" ] && find "$folder" -name '*.[ch]'
    done | sort | while read -r file; do
        awk -v file="$file" '
            {
                line = $0
                out = ""
                gsub(/\\./, "", line)
                if (!comment) gsub(/"[^"]*"/, "\"\"", line)
                while (line != "") {
                    if (comment) {
                        at = index(line, "*/")
                        if (!at) break
                        line = substr(line, at + 2)
                        comment = 0
                        continue
                    }
                    at = index(line, "/*")
                    rest = index(line, "//")
                    if (rest && (!at || rest < at)) { out = out substr(line, 1, rest - 1); break }
                    if (!at) { out = out line; break }
                    out = out substr(line, 1, at - 1)
                    line = substr(line, at + 2)
                    comment = 1
                }
                if (out ~ /[^ \t]/) printf "%s:%d:%s\n", file, NR, out
            }' "$file"
    done
}

# The kernels that the compiler made are as long as they are.
sources() {
    find backend core dist kernels examples test bench -name golden -prune -o \
        -type f \( -name '*.[ch]' -o -name '*.cl' \) -print | sort
}

# Lines "LENGTH FILE:LINE NAME" of functions, whose braces stand in the first column.
functions() {
    find backend core dist examples bench -name '*.c' | sort | xargs awk '
        FNR == 1 { open = 0 }
        /^[A-Za-z_].*\(/ && !/;/ { split($0, word, "("); name = word[1]; sub(/.*[ *]/, "", name) }
        /^\{/ { open = FNR }
        /^\}/ && open { printf "%d %s:%d %s\n", FNR - open - 1, FILENAME, open, name; open = 0 }'
}
if [ "${1:-}" = --long ]; then
    functions | sort -rn | head -n 20
    exit 0
fi
core_headers=$(headers core)
includes "$core_headers" backend | rule "backend/ includes a header of core/" || exit 1

dist_headers=$(headers dist)
includes "([^\">]*/)?dist/[^\">]*${dist_headers:+|$dist_headers}" core |
    rule "core/ includes a header of dist/" || exit 1

includes '(CL|OpenCL)/[^">]*|clblast[^">]*|opencl[.]h' core dist kernels examples test bench |
    grep -vE '^test/(faults|support)/' | # which play the driver
    rule "OpenCL or CLBlast outside backend/, test/faults/" || exit 1

includes '([^">]*/)?(CL/[^">]*|OpenCL/[^">]*|clblast[^">]*|opencl[.]h|backend[.]h)' \
    core/tarn*.h backend/tarn_*.h | rule "a public header includes OpenCL or the backend" ||
    exit 1
grep -nE '(^|[^A-Za-z_])cl_[a-z]+|(^|[^A-Za-z_])cl[A-Z]' core/tarn*.h backend/tarn_*.h \
    /dev/null | rule "a public header names OpenCL" || exit 1

code backend core dist examples | grep -E '(^|[^A-Za-z_0-9])(secure_)?getenv[[:space:]]*\(' |
    grep -v '^backend/env[.]c:' | rule "getenv outside backend/env.c" || exit 1

code backend core dist | grep -vE '^backend/(compiler/|log[.]c|progress[.]c)' |
    grep -E '(^|[^A-Za-z_0-9])(stderr|stdout|(v?printf|puts|putchar|perror)[(])' |
    grep -vE 'format[(]printf|^dist/launch[.]c:.*(vprintf|stdout)' | # the latter is tarn_print0
    rule "the library prints elsewhere than in log.c and progress.c" || exit 1

code backend core dist | grep -v '^backend/compiler/' | # which is a program
    grep -E '(^|[^A-Za-z_0-9])(abort|exit|_exit|_Exit|quick_exit)[[:space:]]*\(' |
    rule "the library ends the program" || exit 1

grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' dist/link/*.c | grep -v '"link[.]h"' |
    rule "a plug-in of dist/link/ includes more than link.h" || exit 1
includes 'mpi[.]h' backend core dist kernels examples test bench | grep -v '^dist/link/' |
    rule "MPI outside dist/link/" || exit 1

# ---- arrows ---------------------------------------------------------------------------------------
# Which part of the tree may include which. A row names only rows above it: no two parts know each
# other. "errors" is error.h, tarn_status.h and tarn_log.h, which everybody has; "api" the public headers;
# "figures" figures.h, numbers that the compiler may know of a device.
# A stage of the compiler includes only earlier ones; compile.c runs them all.
arrows='
errors:
api:                errors
kernels:
figures:            errors
backend:            errors kernels figures
tensor:             errors api backend
op:                 errors api tensor
autograd:           errors api tensor op
nn:                 errors api tensor op
train:              errors api tensor op
data:               errors api tensor backend
file:               errors api tensor backend
compile:            errors api tensor figures
compile/1_graph:    errors api tensor compile
compile/2_nests:    errors api tensor compile compile/1_graph
compile/3_kernels:  errors api tensor compile compile/1_graph compile/2_nests
compile/4_schedule: errors api tensor compile compile/1_graph compile/2_nests compile/3_kernels
compile/5_memory:   errors api tensor compile compile/1_graph compile/2_nests compile/3_kernels compile/4_schedule
compile/6_source:   errors api tensor compile compile/1_graph compile/2_nests compile/3_kernels compile/4_schedule compile/5_memory
shard:              errors api tensor compile compile/1_graph
compile.c:          errors kernels compile compile/1_graph compile/2_nests compile/3_kernels compile/4_schedule compile/5_memory compile/6_source
run:                errors api tensor compile shard backend figures
dist:               errors api tensor op backend
examples:           api
bench:              api examples
'
# Includes that the table forbids, each with its reason.
exceptions='
# tarn-bench measures devices and their memory, which no public function reaches.
bench/tarn/bench.h backend/backend.h
# It opens a replica on the very device that is measured, and gives it samples without compiling.
bench/tarn/ops.c core/tensor/replica.h
# Times the all-reduce between threads by itself, without a device.
bench/all_reduce.c dist/communicator.h
# Times the all-reduce between nodes by itself, from the memory of a host.
bench/between_nodes.c dist/member.h
# Switches the check of weights on and off within one launch, so that both see the same machine.
bench/weight_check.c dist/member.h
# Times the compiler alone, on programs that a replica recorded.
bench/compile_time.c backend/deep.h
bench/compile_time.c core/compile/kernel_plan.h
bench/compile_time.c core/compile/nest.h
bench/compile_time.c core/run/device_target.h
bench/compile_time.c core/run/snapshot.h
'
# tarn.h includes the other public headers at its end, so that one include is enough, and each of
# them includes it, so that each stands alone. This is the only circle.
allowed_circle='core/tarn[a-z_]*[.]h'

# Lines "FILE INCLUDED", both by path, of all headers of the tree that its own files include.
edges() {
    find backend core dist kernels examples bench -name '*.[ch]' | sort | while read -r file; do
        sed -nE 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]([^">]+)[">].*/\1/p' "$file" |
            while read -r name; do
                for path in "${file%/*}/$name" "core/$name" "backend/$name" "dist/$name" \
                    "kernels/$name" "examples/$name"; do
                    [ -f "$path" ] && echo "$file $path" && break
                done
            done
    done
}
edge_list=$(edges)

# $1: what is asked of the graph of includes: arrows, table, circles, or reach.
graph() {
    printf '%s\n' "$edge_list" | awk -v what="$1" -v arrows="$arrows" -v exceptions="$exceptions" \
        -v circle="$allowed_circle" '
        function part(file,    at, n) {
            if (file ~ /^backend\/(error|tarn_status|tarn_log)[.]h$/) return "errors"
            if (file == "backend/figures.h") return "figures"
            if (file ~ /^(core|dist)\/tarn[a-z_]*[.]h$/) return "api"
            if (file == "core/compile/compile.c") return "compile.c"
            n = split(file, at, "/")
            if (at[1] != "core") return at[1]
            if (at[2] == "compile" && n > 3) return "compile/" at[3]
            return at[2]
        }
        function visit(file,    i, round, others) { # names one circle that goes through a file
            if (state[file] == 2) return
            if (state[file] == 1) {
                round = substr(trail, index(trail, " " file " ") + 1) file
                others = round
                gsub(circle, "", others)
                if (others ~ /[^ ]/) print round
                return
            }
            state[file] = 1
            trail = trail " " file " "
            for (i = 1; i <= count[file]; i++) visit(target[file, i])
            trail = substr(trail, 1, length(trail) - length(file) - 2)
            state[file] = 2
        }
        function reach(from, file,    i) {
            for (i = 1; i <= count[file]; i++)
                if (!((from, target[file, i]) in seen)) {
                    seen[from, target[file, i]] = 1
                    if (target[file, i] ~ /^(backend\/(backend|env)|core\/tensor\/(replica|owned))[.]h$/)
                        print from " reaches " target[file, i]
                    reach(from, target[file, i])
                }
        }
        BEGIN {
            rows = split(arrows, row, "\n")
            for (r = 1; r <= rows; r++) {
                words = split(row[r], word, /[: ]+/)
                for (w = 2; w <= words; w++) {
                    if (word[w] == "") continue
                    allowed[word[1], word[w]] = 1
                    if (what == "table" && !(word[w] in known)) print word[1] " names " word[w]
                }
                known[word[1]] = 1
            }
            rows = split(exceptions, row, "\n")
            for (r = 1; r <= rows; r++) if (row[r] !~ /^#/) except[row[r]] = 1
        }
        { target[$1, ++count[$1]] = $2; files[$1] = 1; line[NR] = $0 }
        END {
            for (i = 1; i <= NR; i++) {
                split(line[i], word, " ")
                from = part(word[1])
                to = part(word[2])
                if (from != to && !((from, to) in allowed)) {
                    used[line[i]] = 1
                    if (what == "arrows" && !(line[i] in except)) print word[1] " includes " word[2]
                }
                if (!(from in known) && what == "arrows") print word[1] " is of no part"
            }
            for (name in except)
                if (what == "arrows" && name != "" && !(name in used)) print "no longer needed: " name
            for (file in files) {
                if (what == "circles" && file ~ /^core\//) visit(file)
                if (what == "reach" && file ~ /^core\/compile\//) reach(file, file)
            }
        }' | sort
}
graph table | rule "the table of arrows: a row names one that is not above it" || exit 1
graph arrows | rule "includes that the table of arrows does not allow" || exit 1
graph circles | rule "headers that include each other" || exit 1
graph reach | rule "the compiler reaches devices or replicas" || exit 1

find backend core dist kernels bench examples -type f -name '*.[ch]' -o -name '*.cl' |
    grep -E '^(backend|core|dist|kernels|bench|examples)/' | sed 's|.*/||' | sort | uniq -d |
    rule "two files of one name" || exit 1

# ---- comments -------------------------------------------------------------------------------------

# Above each declaration, or at its end.
awk '/^TARN_API/ { open = 1; above = previous ~ /\*\/[ ]*$/; first = FNR; text = $0 }
    open && /;/ { if (!above && $0 !~ /\/\*/) printf "%s:%d:%s\n", FILENAME, first, text; open = 0 }
    { previous = $0 }' core/tarn*.h dist/tarn*.h backend/tarn*.h |
    rule "a public function without a comment of its own" || exit 1

# A failure of these sticks to the replica, and the next tarn_step() returns it; a report cannot fail but by its arguments.
sticking='tarn_(wait|eval|when_known|graph_dot|profile|loss_scale|barrier|metrics_report)'
grep -nE '^TARN_API +(tarn_status +|(struct +)?tarn_[a-z_]+ +\*)' core/tarn*.h dist/tarn*.h backend/tarn*.h |
    grep -vE " $sticking\(" | rule "a public function without TARN_MUST_USE" || exit 1
grep -hoE "^TARN_API TARN_MUST_USE +tarn_status +$sticking\(" core/tarn*.h dist/tarn*.h |
    rule "TARN_MUST_USE where a failure sticks to the replica" || exit 1

find backend core dist -name '*.[ch]' | sort | while read -r file; do
    sed -n 2p "$file" | grep -q '^/\*' || echo "$file"
done | rule "sources that do not begin by saying what they are for" || exit 1

find core/compile core/run -name '*.c' | sort | while read -r file; do
    awk 'FNR > 1 { print } FNR > 1 && /\*\// { exit }' "$file" | tr '\n' ' ' |
        grep -q 'In: .*Out: ' || echo "$file"
done | rule "stages that do not begin with what goes in and what comes out" || exit 1

# ---- lengths --------------------------------------------------------------------------------------

functions | awk '$1 > 65' | rule "functions of more than 65 lines" || exit 1

sources | while read -r file; do
    lines=$(wc -l <"$file")
    [ "$lines" -gt 600 ] && echo "$file: $lines lines"
done | rule "files of more than 600 lines" || exit 1

sources | while read -r file; do
    grep -nH '[^ -~	]' "$file"
done | rule "characters other than ASCII" || exit 1

echo "check-arrows: all rules hold"
