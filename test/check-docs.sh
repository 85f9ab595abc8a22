#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that the table in docs/environment.md has the names and defaults of ENV_LIST, in its order.
set -u
cd "$(dirname "$0")/.." || exit 1
header=backend/env.h
page=docs/environment.md

# Both as lines "NAME<tab>DEFAULT".
in_code() {
    sed -nE 's/^[[:space:]]*X\([A-Z_]+,[[:space:]]*"([A-Z_]+)",[[:space:]]*"([^"]*)",.*/\1\t\2/p' \
        "$header"
}
# shellcheck disable=SC2016 # the backquotes are those of the table
in_page() {
    sed -nE 's/^\| `(TARN_[A-Z_]+)` +\| +([^|]*[^| ]) +\|.*/\1\t\2/p' "$page" |
        sed -E 's/\tempty$/\t/; s/\t`([^`]*)`$/\t\1/'
}

code=$(in_code)
text=$(in_page)
if [ -z "$code" ] || [ "$(printf '%s\n' "$code" | wc -l)" -ne \
    "$(grep -cE '^[[:space:]]*X\([A-Z_]+,' "$header")" ]; then
    echo "check-docs: cannot read every row of ENV_LIST in $header" >&2
    exit 1
fi
if [ "$code" != "$text" ]; then
    echo "check-docs: $header (name, default) has:" >&2
    printf '%s\n' "$code" >&2
    echo "check-docs: $page has:" >&2
    printf '%s\n' "$text" >&2
    exit 1
fi
echo "check-docs: $page agrees with $header"
