#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# layouts.sh FOLDER DATA [STEPS]: the real MNIST of the folder DATA on 1 to 8 nodes on four hosts, with 8 to 1
# devices each, by each MPI and each of the three ways to add up: the checkpoints must be those of one device,
# byte for byte. And 3, 5 and 6 nodes without shards, on unequal numbers of devices, too, whose weights are compared
# in every step.
set -u
bin=$(cd "$1" && pwd)
data=$(cd "$2" && pwd) || exit 1
steps=${3:-200}
source "$(dirname "$0")/hosts.bash"
engines=""
for engine in openmpi mpich; do
    has_engine $engine && engines="$engines $engine"
done
[ -n "$engines" ] || skip "no MPI with a plug-in (Debian: openmpi-bin libopenmpi-dev)"
make_hosts 4
TARN_TIMEOUT=60
run="--data $data --steps $steps --no-progress"

# repeat N WORD: WORD,WORD,...
repeat() {
    local i list=$2
    for ((i = 1; i < $1; i++)); do list=$list,$2; done
    echo "$list"
}

# shellcheck disable=SC2086
"$mnist" $run --virtual-shards 8 --save whole.safetensors >log 2>&1 || wrong "one device failed"
cat log
# shellcheck disable=SC2086
TARN_DEVICES=$(repeat 8 0) "$mnist" $run --virtual-shards 8 --save some.safetensors >log 2>&1 ||
    wrong "1 x 8 failed"
cmp some.safetensors whole.safetensors && echo "one process, 8 devices: the same bytes" || wrong "1 x 8 differs"
for engine in $engines; do
    for nodes in 2 4 8; do
        for TARN_EXCHANGE in direct halving doubling; do
            rm -f some.safetensors
            TARN_DEVICES=$(repeat $((nodes == 8 ? 2 : 8 / nodes)) 0) # two processes of 8 share a host's
            # shellcheck disable=SC2086
            limit=600 launch $nodes "$mnist" $run --virtual-shards 8 --save "$work/some.safetensors"
            over 600 "$engine, $nodes nodes, $TARN_EXCHANGE"
            grep -q '^devices: 8 x' log || wrong "$engine, $nodes nodes: not 8 replicas"
            differing=$(cmp -l some.safetensors whole.safetensors 2>&1 | wc -l)
            [ $code = 0 ] && [ "$differing" = 0 ] || wrong "$engine, $nodes nodes, $TARN_EXCHANGE: $differing bytes differ"
            echo "$engine, $nodes x $((8 / nodes)), $TARN_EXCHANGE: $differing differing bytes"
        done
    done
    TARN_EXCHANGE=auto
    # Devices of a host: of 5 nodes the first two share one, of 6 four do.
    for layout in "3 0" "5 0,0" "6 0,0" "3 0,0,0" "4 unequal"; do
        set -- $layout
        TARN_DEVICES=$2
        program=("$mnist")
        if [ "$2" = unequal ]; then
            TARN_DEVICES=0
            cat >unequal <<'END'
#!/bin/sh
# The hosts have 1, 2, 3 and 1 devices.
case $(hostname) in
*1) TARN_DEVICES=0,0 ;;
*2) TARN_DEVICES=0,0,0 ;;
esac
export TARN_DEVICES
exec "$@"
END
            chmod +x unequal
            program=("$work/unequal" "$mnist")
        fi
        # shellcheck disable=SC2086
        limit=600 launch "$1" "${program[@]}" $run --batch-size 120 --check-weights 1
        over 600 "$engine, $1 nodes"
        [ $code = 0 ] || wrong "$engine, $1 nodes: ended with $code"
        echo "$engine, $1 nodes, devices $2:$(sed -n 's/^devices: \([0-9]*\) x.*/ \1 replicas,/p' log)" \
            "status $code"
    done
done
echo "$self: $failures failures"
[ $failures = 0 ]
