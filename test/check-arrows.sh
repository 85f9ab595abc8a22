#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks what may include and call what, file lengths, and that sources are ASCII.
# Lists every offence of the first rule that is broken, and exits with 1.
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

sources() {
    find backend core dist kernels examples test bench -name '*.[ch]' -o -name '*.cl' 2>/dev/null |
        sort
}

core_headers=$(headers core)
includes "$core_headers" backend | rule "backend/ includes a header of core/" || exit 1

dist_headers=$(headers dist)
includes "([^\">]*/)?dist/[^\">]*${dist_headers:+|$dist_headers}" core |
    rule "core/ includes a header of dist/" || exit 1

includes '(CL|OpenCL)/[^">]*|clblast[^">]*|opencl[.]h' core dist kernels examples test bench |
    grep -vE '^test/(faults|support)/' | # which play the driver
    rule "OpenCL or CLBlast outside backend/, test/faults/" || exit 1

includes '([^">]*/)?(CL/[^">]*|OpenCL/[^">]*|clblast[^">]*|opencl[.]h|backend[.]h)' \
    core/tarn*.h backend/tarn_status.h | rule "a public header includes OpenCL or the backend" ||
    exit 1
grep -nE '(^|[^A-Za-z_])cl_[a-z]+|(^|[^A-Za-z_])cl[A-Z]' core/tarn*.h backend/tarn_status.h \
    /dev/null | rule "a public header names OpenCL" || exit 1

code backend core dist examples | grep -E '(^|[^A-Za-z_0-9])(secure_)?getenv[[:space:]]*\(' |
    grep -v '^backend/env[.]c:' | rule "getenv outside backend/env.c" || exit 1

code backend core dist |
    grep -E '(^|[^A-Za-z_0-9])(abort|exit|_exit|_Exit|quick_exit)[[:space:]]*\(' |
    rule "the library ends the program" || exit 1

# A declaration is documented by a comment above it or anywhere in its group, which blank lines end.
awk 'function flush() { if (!documented) printf "%s", group; group = ""; documented = 0 }
    /^[[:space:]]*$/ { flush(); next }
    /\*\/[[:space:]]*$/ { documented = 1 }
    /^TARN_API/ { group = group sprintf("%s:%d:%s\n", FILENAME, FNR, $0) }
    END { flush() }' core/tarn*.h | rule "a public function without a comment" || exit 1

sources | while read -r file; do
    lines=$(wc -l <"$file")
    [ "$lines" -gt 600 ] && echo "$file: $lines lines"
done | rule "files of more than 600 lines" || exit 1

sources | while read -r file; do
    grep -nH '[^ -~	]' "$file"
done | rule "characters other than ASCII" || exit 1

echo "check-arrows: all rules hold"
