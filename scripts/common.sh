# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts: installs what is missing on a Debian machine, and says so.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

build_packages="gcc libc6-dev cmake make pkg-config binutils ocl-icd-opencl-dev opencl-headers
    pocl-opencl-icd libclblast-dev zlib1g-dev libxxhash-dev libjansson-dev uthash-dev"
data_packages="dataset-fashion-mnist"
# Optional: without them the example resnet reads no PNG and no JPEG.
picture_packages="libpng-dev libjpeg-dev"
test_packages="$picture_packages libcriterion-dev g++ python3 openmpi-bin libopenmpi-dev iproute2"

# The programs of test/gpt_2 are Python's, with PyTorch and an old enough transformers.
reference_packages="python3-torch python3-venv"
reference_python=$root/build/reference/bin/python

say()
{
    printf '%s: %s\n' "$(basename "$0")" "$*"
}

# Installs those of the named packages that are missing; asks no server when none is.
need_packages()
{
    local missing="" package
    for package in "$@"; do
        if [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
            missing="$missing $package"
        fi
    done
    if [ -z "$missing" ]; then
        return 0
    fi
    say "installing$missing"
    local as_root=""
    if [ "$(id -u)" -ne 0 ]; then
        as_root=sudo
    fi
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086
    if ! { $as_root apt-get update -qq &&
        $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null; }; then
        say "could not install:$missing"
        return 1
    fi
}

# PyTorch, and PyPI's transformers in an environment of its own: for the tests that compare with them.
need_transformers()
{
    # shellcheck disable=SC2086
    need_packages $reference_packages || return 1
    if "$reference_python" -c "import torch, transformers, safetensors" 2>/dev/null; then
        return 0
    fi
    say "installing transformers in build/reference"
    /usr/bin/python3 -m venv --system-site-packages "$root/build/reference" &&
        "$reference_python" -m pip install --quiet "transformers==4.30.2" "safetensors==0.3.3"
}

# configure_and_build PRESET [cmake options]
configure_and_build()
{
    local preset=$1
    shift
    say "building ($preset)"
    (
        cd "$root" || exit 1
        local log="build/$preset.log"
        mkdir -p build
        if ! { cmake --preset "$preset" "$@" &&
            cmake --build --preset "$preset" -j "$(nproc)"; } >"$log" 2>&1; then
            cat "$log"
            exit 1
        fi
    )
}
