#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Checks that the table in docs/environment.md has the names and defaults of ENV_LIST, in its order, and
# that the files, functions and variables that the pages name exist, and the targets of their links.
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

# What stands in backquotes and begins with a folder of the tree.
missing_paths() {
    # shellcheck disable=SC2016 # the backquotes are those of the pages
    grep -oE '`(backend|bench|core|dist|docs|examples|kernels|scripts|test)/[A-Za-z0-9_./-]*' "$1" |
        tr -d '`' | sort -u | while read -r path; do
        [ -e "$path" ] || echo "$1: no $path"
    done
}

# Public functions and types, environment variables and other constants.
missing_names() {
    sed 's/]([^)]*)//g' "$1" | grep -oE '\b(tarn|TARN)_[A-Za-z0-9_]*[A-Za-z0-9]\b' | sort -u | while read -r name; do
        grep -rqw -- "$name" core dist backend kernels CMakeLists.txt || echo "$1: no $name"
    done
}

# Files that links lead to, and the headings that they name in them.
missing_links() {
    grep -oE '\]\([a-zA-Z][^):]*\)' "$1" | sed 's/^](//; s/)$//' | sort -u | while read -r link; do
        file=$(dirname "$1")/${link%%#*}
        if [ ! -e "$file" ]; then
            echo "$1: no $link"
        elif [ "${link#*#}" != "$link" ]; then
            sed -nE 's/^#+ (.*)/\1/p' "$file" | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9_\n-' |
                grep -qxF -- "${link#*#}" || echo "$1: no $link"
        fi
    done
}

# docs/regressions.md names tests as ctest does; docs/adding-an-op.md adds functions that are not there.
missing=$(for page in README.md docs/*.md; do
    [ "$page" = docs/regressions.md ] || missing_paths "$page"
    [ "$page" = docs/adding-an-op.md ] || missing_names "$page"
    missing_links "$page"
done)
if [ -n "$missing" ]; then
    printf 'check-docs: pages name what is not there:\n%s\n' "$missing" >&2
    exit 1
fi
echo "check-docs: what the pages name is there"
