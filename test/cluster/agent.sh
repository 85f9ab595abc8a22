#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What mpirun calls instead of ssh: agent.sh HOST COMMAND...; HOST is a namespace, whose name the host has.
host=$1
shift
exec ip netns exec "$host" unshare -u sh -c 'hostname "$0"; exec sh -c "$*"' "$host" "$@"
