#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# host.sh NAME COMMAND...: gives the host of this namespace its name, and runs the command.
hostname "$1"
shift
exec "$@"
