#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tests: the addresses of a new network namespace: loopback, and one that is not a loopback address, because slurmctld does not
# start without one. Nothing outside the namespace can be reached.
set -euo pipefail
ip link set lo up
# Not every kernel has dummy interfaces; a pair of virtual Ethernet interfaces does the same.
ip link add outer0 type dummy 2>/dev/null || ip link add outer0 type veth peer name outer1
ip address add 192.0.2.1/24 dev outer0
ip link set outer0 up
[ ! -e /sys/class/net/outer1 ] || ip link set outer1 up
