#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mpirun.sh FOLDER: the programs of FOLDER as several processes of one host, through each MPI that has a
# plug-in there. Layouts of nodes and devices must give the same bytes, and what is wrong must be refused in one
# line. Exits with 77 where there is no mpirun.
set -u
bin=$(cd "$1" && pwd)
mnist=$bin/mnist
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
unset "${!OMPI_@}" "${!PMI_@}" "${!PMIX_@}" "${!SLURM_@}" WORLD_SIZE MASTER_ADDR
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TARN_AWAKE=0
export TARN_DEVICES=0,0,0,0,0,0,0,0
run="--fake-data --steps 6 --batch-size 128 --no-progress"
failures=0

engines=
for engine in openmpi mpich; do
    if [ -e "$bin/tarn-link-$engine.so" ] && command -v mpirun.$engine >/dev/null; then
        engines="$engines $engine"
    fi
done
if [ -z "$engines" ]; then
    echo "mpirun.sh: skipped: no MPI with a plug-in (Debian: openmpi-bin libopenmpi-dev)"
    exit 77
fi

wrong() {
    echo "mpirun.sh: $*"
    [ -e log ] && tail -n 30 log
    failures=$((failures + 1))
}

# start ENGINE NODES COMMAND...: output to log; the launcher's status.
start() {
    local engine=$1 nodes=$2
    shift 2
    case $engine in
    openmpi) timeout -k 5 120 mpirun.openmpi --oversubscribe --bind-to none --mca btl self,vader,tcp \
        --mca pml ob1 --mca mpi_yield_when_idle 1 -np "$nodes" "$@" ;;
    mpich) timeout -k 5 120 mpirun.mpich -np "$nodes" "$@" ;;
    esac >log 2>&1 </dev/null
}

# same FILE NAME
same() {
    cmp -s "$1" whole.safetensors || wrong "$2: other bytes than one device's"
}

# refused STATUS PATTERN ENGINE NODES COMMAND...
refused() {
    local status=$1 pattern=$2
    shift 2
    start "$@"
    local code=$?
    [ $code = "$status" ] || wrong "ended with $code, not $status: ${*:3}"
    grep -qE "$pattern" log || wrong "did not say '$pattern': ${*:3}"
}

# ---- the same bytes -----------------------------------------------------------------------------------

# shellcheck disable=SC2086
"$mnist" $run --virtual-shards 8 --devices 1 --save whole.safetensors >log 2>&1 ||
    wrong "one device failed"
# shellcheck disable=SC2086
"$mnist" $run --virtual-shards 8 --save all.safetensors >log 2>&1 || wrong "1x8 failed"
same all.safetensors 1x8
layout() { # ENGINE NODES EXCHANGE
    rm -f some.safetensors
    # shellcheck disable=SC2086
    TARN_EXCHANGE=$3 start "$1" "$2" "$mnist" $run --virtual-shards 8 --save some.safetensors ||
        wrong "$1, $2 nodes, $3: failed"
    same some.safetensors "$1, $2 nodes, $3"
    [ "$(grep -c '^done' log)" = 1 ] && [ "$(grep -c '^data' log)" = 1 ] ||
        wrong "$1, $2 nodes: other processes than the first talk, too"
}
for engine in $engines; do
    layout "$engine" 2 direct
    layout "$engine" 4 halving
    [ "$engine" = openmpi ] || continue
    layout "$engine" 2 halving
    layout "$engine" 4 direct
    layout "$engine" 4 doubling
    layout "$engine" 8 auto
done

# Any number of nodes, and of replicas on each, without shards: equal weights are checked in every step, and at
# the end.
first=${engines# }
first=${first%% *}
for nodes in 3 5; do
    # shellcheck disable=SC2086
    start "$first" "$nodes" "$mnist" $run --batch-size 120 || wrong "$nodes nodes failed"
    grep -q '^devices: 8 x' log || wrong "$nodes nodes: not 8 replicas"
done

# More shards than one replica can have.
# shellcheck disable=SC2086
many="$run --batch-size 512 --steps 3 --virtual-shards 32"
# shellcheck disable=SC2086
"$mnist" $many --devices 2 --save two.safetensors >log 2>&1 || wrong "32 shards on 2 devices failed"
# shellcheck disable=SC2086
start "$first" 4 "$mnist" $many --save some.safetensors || wrong "32 shards on 4 nodes failed"
cmp -s some.safetensors two.safetensors || wrong "32 shards: other bytes on 8 devices than on 2"
# shellcheck disable=SC2086
refused 2 'one replica can have 16' "$first" 1 "$mnist" $many --devices 1

# A lone CPU is divided.
# shellcheck disable=SC2086
TARN_DEVICES=0 start "$first" 2 "$mnist" $run || wrong "two halves of a CPU failed"
grep -q '^devices: 2 x' log || wrong "two halves of a CPU: not 2 replicas"

# ---- groups of a mesh ---------------------------------------------------------------------------------

for layout in "2 2 2" "4 2 2" "2 1 4" "2 3 2"; do
    # shellcheck disable=SC2086
    start "$first" ${layout%% *} "$bin/test_over_plain" ${layout#* } || wrong "groups, $layout: wrong"
done

# ---- marks on a mesh ----------------------------------------------------------------------------------

# Four ranks of one process are as near to one device as the order of sums allows; on two and on four nodes they are
# the same.
mesh_trains() { # ENGINE NODES
    rm -f marked.safetensors
    start "$1" "$2" "$bin/test_mesh_train_plain" marked.safetensors || wrong "$1, $2 nodes, marks: failed"
    cmp -s marked.safetensors four.safetensors || wrong "$1, $2 nodes, marks: other bytes than of one process"
}
"$bin/test_mesh_train_plain" four.safetensors >log 2>&1 || wrong "marks on four ranks of a process: wrong"
for engine in $engines; do
    mesh_trains "$engine" 2
done
mesh_trains "$first" 4

# ---- a file on the first node suffices ----------------------------------------------------------------

mkdir elsewhere
cat >apart <<'END'
#!/bin/sh
# Only the first process has the files.
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || cd elsewhere
exec "$@"
END
chmod +x apart
# shellcheck disable=SC2086
start "$first" 2 ./apart "$mnist" $run --steps 3 --virtual-shards 8 --save half.safetensors \
    --save-every 2 || wrong "the first half failed"
# shellcheck disable=SC2086
start "$first" 2 ./apart "$mnist" $run --steps 3 --virtual-shards 8 --resume half.safetensors \
    --save some.safetensors || wrong "the second half failed"
same some.safetensors resumed
# shellcheck disable=SC2086
refused 5 'nothing.safetensors: cannot open' "$first" 2 "$mnist" $run --resume nothing.safetensors

# ---- what is wrong ------------------------------------------------------------------------------------

cat >unlike <<'END'
#!/bin/sh
# Each process gets its own number of shards.
exec "$@" --virtual-shards $((8 << ${OMPI_COMM_WORLD_RANK:-$PMI_RANK}))
END
chmod +x unlike
# shellcheck disable=SC2086
{
    refused 6 'node 1 .* another number of virtual shards than node 0' "$first" 2 \
        ./unlike "$mnist" $run
    TARN_DEVICES=0,0 refused 4 '4 processes on this host, but 2 devices' "$first" 4 "$mnist" $run
    TARN_DEVICES=0,0,0 refused 2 'with virtual shards all nodes need the same number' "$first" 2 \
        "$mnist" $run --virtual-shards 8
    TARN_LINK=/nowhere.so refused 4 'needs the plug-in .*/nowhere.so' "$first" 2 "$mnist" $run
    for trap in "WORLD_SIZE=2" "MASTER_ADDR=h0" "SLURM_STEP_ID=0 SLURM_PROCID=0 SLURM_NTASKS=2"; do
        # shellcheck disable=SC2163
        (
            export $trap
            timeout 60 "$mnist" $run >log 2>&1
            [ $? = 2 ]
        ) || wrong "$trap: not refused"
        grep -qE 'mpirun -np|srun --mpi=pmix' log || wrong "$trap: no command that works"
        # shellcheck disable=SC2163
        (
            export $trap
            TARN_LINK=off timeout 60 "$mnist" $run --steps 1 >log 2>&1
        ) || wrong "$trap: refused with TARN_LINK=off"
    done
}

# Weights that differ between nodes are named, with the rank among all and both values; the node that differs
# prints its record first, all of it.
# shellcheck disable=SC2086
refused 1 'fc1.weight .* element 7 is 0x.*rank 0 and 0x.* on rank 5 of node 1 \(.* and .*\)' "$first" 2 "$bin/tarn-weights" inject \
    --devices 0,0,0,0,0,0,0,0 --tensor fc1.weight --element 7 --bit 3 --rank 5 --step 3 --steps 6
records=$(grep -oE '^tarn: flight (of node [01]|.*"rank": [0-7],)' log |
    sed -E 's/.*of node (.)/N\1/; s/.*"rank": (.),/\1/' | uniq | tr -d '\n')
[ "$records" = N14567N00123 ] || wrong "flight records in another order: $records"

# A process that is gone, or hangs, is named by the other.
export TARN_TIMEOUT=3
for signal in KILL STOP; do
    cat >hurt <<END
#!/bin/sh
# The second process hurts itself after a while.
[ "\${OMPI_COMM_WORLD_RANK:-\$PMI_RANK}" = 0 ] || { (sleep 6; kill -$signal \$\$) >/dev/null 2>&1 & }
exec "\$@"
END
    chmod +x hurt
    began=$SECONDS
    start "$first" 2 ./hurt "$mnist" --fake-data --epochs 1000 --no-progress
    code=$?
    [ $((SECONDS - began)) -le 40 ] || wrong "$signal: noticed after $((SECONDS - began)) s"
    if [ $signal = STOP ]; then
        [ $code = 75 ] || wrong "$signal: ended with $code, not 75"
        grep -q 'node 1 .* does not answer' log || wrong "$signal: not named"
    else
        [ $code != 0 ] && [ $code != 124 ] || wrong "$signal: ended with $code"
    fi
done

[ "$failures" = 0 ] && echo "mpirun.sh:$engines: all as it must be"
exit $((failures > 0))
