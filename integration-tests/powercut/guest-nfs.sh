# Part of guest-run.sh: a server of NFS, two clients of it, each in a network of its own, and two brokers.

SERVER=10.9 # as in /etc/exports
LEASE=20 # seconds; the kernel's default is 90

ip() { /usr/bin/ip "$@"; } # the shell prefers its own

serve() {
  exportfs -a && rpc.mountd -N 3 && rpc.nfsd -N 3 -V 4 8
}

# The server stops; its clients' locks are noted for its next start.
unserve() {
  rpc.nfsd 0
  killall rpc.mountd
  exportfs -ua
}

# The server stops, and its next start knows no client.
unserve_and_forget() {
  unserve
  rm -rf /var/lib/nfs/nfsdcltrack/*
}

# connect N up|down: the network of client N.
connect() { ip link set "server$1" "$2"; }

client() {
  ip netns add "client$1" && ip link add "server$1" type veth peer name nfs netns "client$1" \
    && ip addr add "$SERVER.$1.1/24" dev "server$1" && connect "$1" up \
    && ip -n "client$1" addr add "$SERVER.$1.2/24" dev nfs && ip -n "client$1" link set nfs up \
    && ip netns exec "client$1" sh -c "echo client-$1 >/sys/fs/nfs/net/nfs_client/identifier" \
    && mkdir "/mnt/$1" \
    && nsenter --net="/run/netns/client$1" mount.nfs4 "$SERVER.$1.1:/data/export" "/mnt/$1" -o vers=4.2,hard,noatime \
    && say "mounted $(grep " /mnt/$1 " /proc/mounts)"
}

# properties N: the file of broker N.
properties() { [ "$1" = 1 ] && echo /payload/server.properties || echo "/payload/server-$1.properties"; }

# broker N: starts it; what it says has its number in front. Without the verifier classes load in time. A broker that refuses
# to start is started again, as by systemd: on a machine this slow it takes its own slowness for that of the store.
broker() {
  (
    code=1
    while [ $code = 1 ]; do
      sh -c 'echo $$ >/tmp/broker'"$1"'.pid; exec "$@"' sh \
        /opt/java/bin/java $JVM $ARCHIVE -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote -Xms128m -Xmx320m \
        -Dlog4j2.configurationFile=/opt/kafka/log4j2.xml $OPTIONS -cp "$CLASS_PATH:/payload/strata.jar" kafka.Kafka "$(properties "$1")" 2>&1
      code=$?
      say "BROKER ENDED $code"
    done
  ) | sed "s/^/$1: /" &
}

# broker_dies N
broker_dies() { kill -9 "$(cat "/tmp/broker$1.pid")"; }

# strata_remote N COMMAND: of the store, as broker N sees it.
strata_remote() { strata remote "$2" --config "$(properties "$1")"; }

# Waits until the lower level has a segment more.
await_move() {
  before=$(find /data/export/slow/topics -name '*.log' | wc -l)
  until [ "$(find /data/export/slow/topics -name '*.log' | wc -l)" -gt "$before" ]; do sleep 1; done
}

nfs() {
  mount -t ext4 /dev/vdb /data || give_up "mount of the disk"
  mount -t tmpfs var /var
  mount -t tmpfs mnt /mnt
  mkdir -p /var/lib/nfs/nfsdcltrack /run/rpc_pipefs /run/netns
  touch /var/lib/nfs/etab /var/lib/nfs/rmtab
  for module in nfsd nfsv4 veth; do
    modprobe $module || give_up "modprobe $module"
  done
  mount -t rpc_pipefs rpc_pipefs /run/rpc_pipefs || give_up "mount of rpc_pipefs"
  mount -t nfsd nfsd /proc/fs/nfsd || give_up "mount of nfsd"
  echo $LEASE >/proc/fs/nfsd/nfsv4leasetime
  echo $LEASE >/proc/fs/nfsd/nfsv4gracetime
  serve || give_up "no server of NFS"
  client 1 && client 2 || give_up "no client of NFS"
  touch /mnt/1/grace /mnt/2/grace # answered when the server's grace period has ended
  exec 3</dev/ttyS1 # what is sent before is lost
  say "BOOTED"
  while read -r line <&3; do
    ${line% *} # the last word is the number of the answer
    say "DONE ${line##* } $?"
  done
}
