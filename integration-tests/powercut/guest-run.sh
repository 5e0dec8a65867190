#!/bin/sh
# What the guest does; comes with each boot on the tar disk, with server.properties and strata.jar beside it. Says on the
# console, in lines that begin with GUEST, how far it is, and takes commands on its second serial line.
. /payload/arguments # MODE, OPTIONS (of the broker's JVM), CLASSES (before the jar), STRATA (yes or no), AT (moment of the host's clock)

say() { echo "GUEST $*"; }

give_up() {
  say "FAILED $*"
  dmesg | tail -n 30
  sync
  reboot -f
}

JVM="-XX:TieredStopAtLevel=1 -XX:UseAVX=0 -XX:-UsePerfData -XX:+UseSerialGC"
CLASS_PATH=$(cat /opt/kafka/classpath)
ARCHIVE=
[ -f /opt/kafka/kafka.jsa ] && ARCHIVE="-XX:SharedArchiveFile=/opt/kafka/kafka.jsa -Xshare:auto"

strata() {
  /opt/java/bin/java $JVM -Xmx192m -jar /payload/strata.jar "$@"
}

create() {
  strata pool create --json --size "$2" --type "$3" --slots "$4" "$1" >/tmp/created || give_up "pool $1 of type $3"
  say "CREATED $1 $3 $(sed -n 's/.*"durability" *: *"\([A-Z]*\)".*/\1/p' /tmp/created)"
}

# One pool file for each kind of run; the runs copy the whole device.
prepare() {
  ndctl create-namespace -m fsdax --map=mem --no-autolabel -f -e namespace0.0 || ndctl create-namespace -m fsdax --map=mem --no-autolabel \
    || give_up "ndctl makes no namespace"
  [ -b /dev/pmem0 ] || give_up "no /dev/pmem0"
  /usr/sbin/mkfs.ext4 -q -F -b 4096 /dev/pmem0 || give_up "mkfs"
  mount -t ext4 -o dax=always /dev/pmem0 /pmem || give_up "mount -o dax=always"
  mount -t ext4 /dev/vdb /data || give_up "mount of /data"
  say "mounted $(grep ' /pmem ' /proc/mounts)"
  while read -r name size type slots; do
    create "/pmem/$name.pool" "$size" "$type" "$slots"
  done <<POOLS
large 320MiB mapped 320
llpl 320MiB pmem 320
small 14MiB mapped 96
tiny 6MiB mapped 64
POOLS
  create /data/disk.pool 24MiB mapped 24
  umount /pmem || give_up "umount /pmem"
  umount /data || give_up "umount /data"
  sync
  say "PREPARED"
  reboot -f
}

start_broker() {
  PROVIDER=
  if [ "$STRATA" = yes ]; then
    PROVIDER=-Djava.nio.file.spi.DefaultFileSystemProvider=io.strata.kafka.nio.StrataFileSystemProvider
    CLASS_PATH=$CLASS_PATH$CLASSES:/payload/strata.jar
  fi
  (
    sh -c 'echo $$ >/tmp/broker.pid; exec "$@"' sh \
      /opt/java/bin/java $JVM $ARCHIVE -Xms256m -Xmx512m -XX:MaxDirectMemorySize=768m -Dlog4j2.configurationFile=/opt/kafka/log4j2.xml \
      $OPTIONS $PROVIDER -cp "$CLASS_PATH" kafka.Kafka /payload/server.properties
    say "BROKER ENDED $?"
  ) &
  BROKER=$!
}

run() {
  mount -t ext4 -o dax=always /dev/pmem0 /pmem || give_up "mount -o dax=always"
  mount -t ext4 /dev/vdb /data || give_up "mount of /data"
  say "BOOTED"
  start_broker
  while read -r command argument <&3; do
    case $command in
      check)
        strata pool check --config /payload/server.properties
        say "CHECKED $argument $?"
        ;;
      stop)
        kill -TERM "$(cat /tmp/broker.pid)"
        wait $BROKER
        say "STOPPED $argument 0"
        ;;
      off)
        umount /pmem /data
        sync
        reboot -f
        ;;
      *) say "does not know $command" ;;
    esac
  done 3</dev/ttyS1
  sleep 1000000
}

date -s "@$AT" >/dev/null
case $MODE in
  prepare) prepare ;;
  run) run ;;
  nfs)
    . /payload/guest-nfs.sh
    nfs
    ;;
  *) give_up "mode $MODE" ;;
esac
