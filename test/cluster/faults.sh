#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# faults.sh FOLDER [RUNS [ENGINE [SEED]]]: RUNS trainings on four hosts, each with a fault of another kind, on
# another host, at another moment: a process killed or stopped, a cable out, or out for 3 s, one percent of packets
# lost, a node with another version. What ends a run must be named rightly, in less than twice the deadline,
# with a status worth another start; what does not must not change a bit; and nothing may hang or be left. Prints a
# line for each run.
#
# The machine itself may stand still for a moment, and clocks go on: such a run counts for nothing, and is
# tried again.
set -u
bin=$(cd "$1" && pwd)
runs=${2:-12}
RANDOM=${4:-$$}
source "$(dirname "$0")/hosts.bash"
engine=${3:-openmpi}
has_engine "$engine" || skip "no mpirun.$engine, or no plug-in for it"
make_hosts 4
exact="--fake-data --epochs 3 --batch-size 128 --virtual-shards 4 --no-progress"
# shellcheck disable=SC2086
"$mnist" $exact --save whole.safetensors >log 2>&1 || wrong "one device failed"

# The same program, of a version that there is not.
version=$("$bin/tarn-weights" --version | sed 's/.* //')
other=7${version:1} # the compiler may have put these letters into an instruction, four at once
ln -s "$bin"/tarn-link-*.so . # which a program has beside it
LC_ALL=C sed "s/${version:0:1}\\.${version:2:1}\\./${other:0:4}/g" "$mnist" >other && chmod +x other
cat >either <<END
#!/bin/sh
# Another version on one host.
[ "\$(hostname)" = "\$1" ] && program=$work/other || program=$mnist
shift
exec "\$program" "\$@"
END
chmod +x either

# A line in `gaps` for each moment in which nothing ran.
now() { echo $((${EPOCHREALTIME/./} / 1000)); }
watch_clock() {
    local last next
    last=$(now)
    while sleep 0.1; do
        next=$(now)
        [ $((next - last)) -lt 1000 ] || echo $((next - last)) >>gaps
        last=$next
    done
}
watch_clock &
clock=$!
trap 'kill $clock; remove_hosts' EXIT

bad() {
    problem="$problem${problem:+; }$*"
}

# Begins a training without an end, and breaks it after a while.
begin() {
    launch 4 "$mnist" --fake-data --epochs 100000 --batch-size 128 --no-progress
    wait_for 60 grep -q '^epoch 1' log || bad "does not train"
    sleep $((RANDOM % 2)).$((RANDOM % 10))
    broken=$(now)
}

# seen SECONDS PATTERN: in the log. Tells after how long.
seen() {
    wait_for "$1" grep -qE "$2" log || bad "not named"
    after=$(($(now) - broken))
    [ $after -lt $((2000 * TARN_TIMEOUT)) ] || bad "named after $after ms"
}

ends() { # SECONDS: with a status that is worth another start
    over "$1" "$kind"
    [ $code = 75 ] || [ $code -gt 128 ] || bad "ended with $code"
    names_another && bad "an innocent one is named"
}

# As one that is gone, or late.
names_another() {
    grep -oE "node [0-9] \(${prefix}[0-9]\) (does not answer|answers;)|rank [0-9].* exited on signal" log |
        grep -qvE "(node|rank) $host( |,)"
}

is_exact() {
    over "$1" "$kind"
    [ $code = 0 ] || bad "ended with $code"
    cmp -s some.safetensors whole.safetensors || bad "other bytes"
    rm -f some.safetensors
}

killed() {
    begin
    kill -9 $(program "$host")
    case $engine in
    openmpi) seen 10 "rank $host with PID [0-9]+ on node $prefix$host exited on signal 9" ;;
    mpich) seen 10 "PID [0-9]+ RUNNING AT $prefix$host$" ;;
    esac
    ends 20
}

stopped() {
    begin
    kill -STOP $(program "$host")
    seen 20 "node $host \($prefix$host\) does not answer"
    ends 30
}

# Hosts that mpirun cannot reach end by themselves; it, by its keep-alive, which must notice before Tarn does.
cut_off() {
    [ "$host" != 0 ] || host=$((1 + RANDOM % 3))
    begin
    cut "$host"
    seen 30 "daemon.* on node $prefix$host|node $host \($prefix$host\) does not answer"
    ends 60
    join "$host"
    sleep 2
}

# TCP tries again after 0.2, 0.4, 0.8 ... s.
out_for_3s() {
    local patience=15 TARN_TIMEOUT=12
    [ "$host" != 0 ] || host=$((1 + RANDOM % 3))
    # shellcheck disable=SC2086
    launch 4 "$mnist" $exact --save "$work/some.safetensors"
    wait_for 60 grep -q '^epoch 1' log || bad "does not train"
    cut "$host"
    sleep 3
    has_ended && bad "ended before the cable was back"
    join "$host"
    broken=$(now)
    is_exact 60
    after=$(($(now) - broken))
}

lossy() {
    local patience=15
    ip netns exec "$prefix$host" nft "add table inet loss; add chain inet loss in { type filter hook input \
priority 0; }; add rule inet loss in meta l4proto tcp numgen random mod 100 < 1 counter drop" ||
        bad "no packets can be lost (nft)"
    broken=$(now)
    # shellcheck disable=SC2086
    launch 4 "$mnist" $exact --save "$work/some.safetensors"
    is_exact 90
    after=$(($(now) - broken))
    lost=$(ip netns exec "$prefix$host" nft list table inet loss | grep -oE 'packets [0-9]+')
    [ "${lost#packets }" -gt 0 ] || bad "no packet was lost"
    ip netns exec "$prefix$host" nft delete table inet loss
}

unlike() {
    broken=$(now)
    # shellcheck disable=SC2086
    launch 4 "$work/either" "$prefix$host" $exact
    over 40 "$kind"
    after=$(($(now) - broken))
    [ $code != 0 ] && [ $code != 75 ] && [ $code -lt 124 ] || bad "ended with $code"
    grep -qE "node $host (has Tarn )?$other" log || bad "not named"
    grep -q '^epoch' log && bad "trained"
}

kinds=(killed stopped cut_off out_for_3s lossy unlike)
# MPICH's launcher waits for a stopped process after all the others have named it and ended.
[ "$engine" = openmpi ] || kinds=(killed out_for_3s lossy unlike)
good=0
again=0
for ((run = 0; run < runs; run++)); do
    kind=${kinds[run % ${#kinds[@]}]}
    for ((try = 0; try < 5; try++)); do
        host=$((RANDOM % 4)) problem="" after=0 code=0
        before=$failures
        : >gaps
        $kind >said 2>&1
        [ "$failures" = "$before" ] || bad "hangs, or leaves something"
        [ -n "$problem" ] && [ -s gaps ] || break
        again=$((again + 1))
        failures=$before
        join "$host"
    done
    printf '%3d %-10s host %d: status %3d after %5d ms: %s\n' $((run + 1)) "$kind" "$host" "$code" "$after" \
        "${problem:-good}"
    if [ -z "$problem" ]; then
        good=$((good + 1))
    else
        cat said
        grep -v 'tarn: flight' log | tail -n 12 | sed 's/^/    /'
    fi
done
echo "$self: $engine: $good of $runs runs as they must be; $again tried again, as the machine stood still"
[ $good = "$runs" ]
