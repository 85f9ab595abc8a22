#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Does what README.md says under "Installing", on a copy of the tree and into a folder: the build has no warnings, and
# README's program compiles, by pkg-config and by CMake, shared and static, and trains.
#
#   test/install.sh MNIST-FOLDER [C-COMPILER]
set -euo pipefail
cd "$(dirname "$0")/.."
data=$1
export CC=${2:-cc}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' INT TERM
for part in README.md docs CMakeLists.txt backend core dist kernels examples bench scripts; do
    cp -R "$part" "$scratch"
done
cd "$scratch"

# The indented lines of the section, up to the sentence after them; nothing of the system is touched.
commands=$(sed -n '/^## Installing/,/^The build needs/s/^    //p' README.md | grep -v ldconfig |
    sed "s,sudo ,,; s,/usr/local,$scratch/there,")
[ "$(wc -l <<<"$commands")" = 3 ] || { echo "install: README.md has other commands: $commands"; exit 1; }
while read -r command; do
    case $command in
    "cmake -B"*) command+=" -DTARN_WERROR=ON" ;;
    "cmake --build"*) command+=" -j $(nproc)" ;;
    esac
    $command >log 2>&1 || { cat log; echo "install: failed: $command"; exit 1; }
done <<<"$commands"

awk '/^```c/ { on = 1; next } /^```/ { on = 0 } on' README.md >train.c
PKG_CONFIG_PATH=$(dirname "$(find there -name tarn.pc)")
export PKG_CONFIG_PATH LD_LIBRARY_PATH=${PKG_CONFIG_PATH%/pkgconfig}
read -ra shared <<<"$(pkg-config --cflags --libs tarn)"
"$CC" train.c "${shared[@]}" -o train
read -ra static <<<"$(pkg-config --static --cflags --libs tarn | sed "s,-ltarn ,$LD_LIBRARY_PATH/libtarn.a ,")"
"$CC" train.c "${static[@]}" -o train-static
mkdir by-cmake
cp train.c by-cmake
cat >by-cmake/CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.25)
project(train LANGUAGES C)
find_package(tarn REQUIRED)
add_executable(train train.c)
target_link_libraries(train PRIVATE tarn::tarn)
EOF
{ cmake -S by-cmake -B by-cmake/build -DCMAKE_PREFIX_PATH="$scratch/there" &&
    cmake --build by-cmake/build; } >log 2>&1 || { cat log; exit 1; }
for program in train train-static by-cmake/build/train; do
    said=$("./$program" "$data")
    echo "install: $program: $said"
    grep -qE '^loss 0\.[0-9]+ *$' <<<"$said"
    [ -s model.safetensors ] && rm model.safetensors
done
ldd train-static | grep -q libtarn && { echo "install: train-static is not"; exit 1; }
echo "install: ok"
