#!/bin/sh
# The guest's first process. What is to be done comes with each boot, on a raw tar disk (/dev/vdc): so no image is built
# again for another jar.
PATH=/usr/sbin:/usr/bin
export PATH
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t tmpfs tmp /tmp
mount -t tmpfs run /run
mount -t tmpfs payload /payload
ip link set lo up
ip link set eth0 up
ip addr add 10.0.2.15/24 dev eth0
ip route add default via 10.0.2.2
tar -xf /dev/vdc -C /payload || { echo "GUEST FAILED payload"; poweroff -f; }
exec /bin/sh /payload/guest-run.sh
