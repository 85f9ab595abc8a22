#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# mpirun.sh HOSTFILE FILE PROGRAM [ARGUMENT...]: trains on the machines of HOSTFILE, and starts again from the
# checkpoint FILE when a machine or a process was lost. PROGRAM takes --save, --save-every and --resume, as
# mnist does.
#   MPIRUN=mpirun.openmpi  which mpirun (Open MPI's)
#   OPTIONS="--mca ..."    more options of mpirun
#   EVERY=100              steps between two checkpoints
#   STARTS=20              give up after so many
#   PAUSE=5                seconds between two, for a machine that restarts, too
set -u
if [ $# -lt 3 ]; then
    echo "usage: mpirun.sh HOSTFILE FILE PROGRAM [ARGUMENT...]" >&2
    exit 2
fi
hosts=$1 file=$2
shift 2
trap 'exit 130' INT
trap 'exit 143' TERM

start=1
while :; do
    resume=""
    [ -e "$file" ] && resume="--resume"
    # mpirun itself notices a machine that is cut off after 10 + 3 * 5 s, before Tarn does after 30.
    # shellcheck disable=SC2086
    "${MPIRUN:-mpirun}" --bind-to none --hostfile "$hosts" --map-by ppr:1:node \
        --mca oob_tcp_keepalive_time 10 --mca oob_tcp_keepalive_intvl 5 --mca oob_tcp_keepalive_probes 3 \
        ${OPTIONS:-} "$@" --save "$file" --save-every "${EVERY:-100}" $resume ${resume:+"$file"}
    code=$?
    # 75: of Tarn, worth another start; above 128: a signal ended a process, or mpirun lost a machine.
    [ $code = 75 ] || [ $code -gt 128 ] || exit $code
    [ $start -lt "${STARTS:-20}" ] || break
    start=$((start + 1))
    echo "mpirun.sh: ended with $code; start $start" >&2
    sleep "${PAUSE:-5}"
done
echo "mpirun.sh: given up after $start starts" >&2
exit $code
