#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs check.py with the Python that scripts/common.sh: need_transformers makes, else with the system's. Where
# that lacks transformers it is skipped, with 77, or with GPT_2_REQUIRED a failure.
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
python=$here/../../build/reference/bin/python
[ -x "$python" ] || python=/usr/bin/python3
status=0
"$python" "$here/check.py" "$@" || status=$?
if [ "$status" = 77 ] && [ -n "${GPT_2_REQUIRED:-}" ]; then
    echo "gpt-2: FAILED: it must not be skipped here"
    exit 1
fi
exit "$status"
