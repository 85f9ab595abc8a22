#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The manual pages: groff has nothing to say against them, and they have the options that the programs list, and no
# others. Arguments: tarn-bench, tarn-weights, the folder of tarn.7.
set -euo pipefail
pages=$(dirname "$0")/../docs/man
failed=0
wrong() {
    echo "man: $*" >&2
    failed=1
}

for page in "$pages/tarn-bench.1" "$pages/tarn-weights.1" "$3/tarn.7"; do
    said=$(groff -mandoc -Tutf8 -ww -z "$page" 2>&1)
    [ -z "$said" ] || wrong "$page: $said"
done

# Options with two dashes: of --help, and of a page, where the dash is escaped.
listed() { grep -oE '^ +(-[a-zA-Z?], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u; }
described() { grep -E '^\.(It|Fl) ' "$1" | grep -oE '\\-[a-z-]+' | sed 's/^\\-/--/' | sort -u; }
compare() {
    diff <(printf '%s\n' "$2") <(described "$1") >&2 || wrong "$1 and --help differ"
}
compare "$pages/tarn-bench.1" "$("$1" --help | listed)"
compare "$pages/tarn-weights.1" \
    "$(for command in compare check watch inject; do "$2" $command --help | listed; done | sort -u)"
grep -q 'TARN_MEMORY_LIMIT' "$3/tarn.7" || wrong "tarn.7 has no variables"
exit $failed
