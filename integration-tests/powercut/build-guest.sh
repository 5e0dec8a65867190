#!/usr/bin/env bash
# Builds the guest of the power cuts and of NFS from Debian's packages: kernel, initramfs, and a read-only root image with
# a JVM, ndctl, a server and clients of NFS, and Kafka's jars. Called by run.sh; needs no root, save for the class data archive.
#
#   build-guest.sh FOLDER KAFKA_LIBS
#
# FOLDER keeps the packages and the result (kernel, initrd, root.img, modules.list, stamp). What is there already and made of the
# same packages and jars is used again. Ends with 2 when the packages cannot be had.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mkdir -p "$1" && cd "$1" && pwd)
libs=$(cd "$2" && pwd)

say() { printf '==> %s\n' "$*"; }

packages=(
  busybox-static
  libc6 libgcc-s1 libstdc++6 zlib1g
  openjdk-17-jre-headless
  e2fsprogs libext2fs2 libss2 libcom-err2 libblkid1 libuuid1
  ndctl libndctl6 libdaxctl1 libcxl1 libkmod2 libjson-c5 libiniparser1 libkeyutils1 libtraceevent1 libtracefs1
  libudev1 liblzma5 libzstd1 libssl3 libcap2
  libpmem1 libpmemobj1 libpmempool1
  nfs-kernel-server nfs-common libevent-core-2.1-7 libsqlite3-0 libtirpc3 libtirpc-common libwrap0 libnsl2 netbase libnfsidmap1
  libgssapi-krb5-2 libkrb5-3 libk5crypto3 libkrb5support0 libmount1 libselinux1 libpcre2-8-0 libdevmapper1.02.1 libreadline8 libtinfo6
  iproute2 libbpf1 libbsd0 libmd0 libelf1 libmnl0 libxtables12 libdb5.3
)

# In the order in which they need each other.
modules=(
  virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk failover net_failover virtio_net
  libnvdimm nfit nd_btt nd_pmem
)

kernel_package() {
  apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[0-9].*-cloud-amd64\)$/\1/p' | head -n 1
}

kernel=$(kernel_package)
if [[ -z $kernel ]]; then
  say "apt-cache knows no linux-image-cloud-amd64"
  exit 2
fi
mapfile -t versions < <(apt-cache show --no-all-versions "$kernel" "${packages[@]}" | grep -E '^(Package|Version):')
stamp=$({ printf '%s\n' "${versions[@]}"; (cd "$libs" && ls -l --time-style=+%s); cat "$here"/{build-guest.sh,guest-boot.sh,guest-log4j2.xml}; } | sha256sum)
if [[ -f $folder/stamp && $(<"$folder/stamp") == "$stamp" ]]; then
  say "the guest in $folder is up to date"
  exit 0
fi
rm -f "$folder/stamp"

say "downloading ${#packages[@]} packages and $kernel"
mkdir -p "$folder/debs"
rm -f "$folder"/debs/*.deb
download() { (cd "$folder/debs" && apt-get -qq -o Acquire::Retries=2 -o APT::Sandbox::User= download "$kernel" "${packages[@]}"); }
download || { apt-get -qq update && download; } || exit 2

say "unpacking"
root=$folder/root
rm -rf "$root" "$folder/initrd.d" "$folder/kernel.d"
mkdir -p "$root" "$folder/kernel.d" "$folder/initrd.d"
for deb in "$folder"/debs/*.deb; do
  case ${deb##*/} in
    linux-image-*) dpkg-deb -x "$deb" "$folder/kernel.d" ;;
    *) dpkg-deb -x "$deb" "$root" ;;
  esac
done

# bin, sbin, lib and lib64 are links below usr on Debian; packages of bookworm still have files in both.
for dir in bin sbin lib lib64; do
  [[ -d $root/$dir && ! -L $root/$dir ]] || continue
  mkdir -p "$root/usr/$dir"
  cp -a "$root/$dir/." "$root/usr/$dir/"
  rm -rf "${root:?}/$dir"
done
for dir in bin sbin lib lib64; do
  [[ -e $root/$dir ]] || { mkdir -p "$root/usr/$dir"; ln -s "usr/$dir" "$root/$dir"; }
done
rm -rf "$root"/usr/share/{doc,man,locale,bash-completion,lintian,bug}
"$root/usr/bin/busybox" --help >/dev/null
for applet in $("$root/usr/bin/busybox" --list); do
  [[ -e $root/usr/bin/$applet || -e $root/usr/sbin/$applet ]] || ln -s busybox "$root/usr/bin/$applet"
done
mkdir -p "$root"/{proc,sys,dev,tmp,run,etc,pmem,data,payload,mnt,opt/kafka/libs}
printf '127.0.0.1 localhost guest\n' >"$root/etc/hosts"
printf 'root:x:0:0:root:/tmp:/bin/sh\n' >"$root/etc/passwd"
printf 'root:x:0:\n' >"$root/etc/group"
printf 'hosts: files\n' >"$root/etc/nsswitch.conf"
printf '/data/export 10.9.0.0/16(rw,sync,no_subtree_check,no_root_squash)\n' >"$root/etc/exports"
# The modules of the power cuts are in the initramfs; modprobe finds these.
release=$(ls "$folder/kernel.d/lib/modules")
kept=$root/lib/modules/$release/kernel
mkdir -p "$kept"/{fs,net,drivers/net}
(cd "$folder/kernel.d/lib/modules/$release" && cp -r kernel/fs/{nfs*,lockd,netfs,fscache} "$kept/fs/" &&
  cp -r kernel/net/{sunrpc,bridge,llc,802,dns_resolver} "$kept/net/" && cp kernel/drivers/net/veth.ko* "$kept/drivers/net/" &&
  cp modules.builtin modules.order "$root/lib/modules/$release/")
"$root/usr/bin/busybox" depmod -b "$root" "$release"
rm -f "$root/etc/mtab"
ln -s /proc/mounts "$root/etc/mtab"
cp -a "$libs"/*.jar "$root/opt/kafka/libs/"
cp "$here/guest-log4j2.xml" "$root/opt/kafka/log4j2.xml"
install -m 755 "$here/guest-boot.sh" "$root/boot.sh"

# The JVM's home, whatever the architecture is called.
java=$(cd "$root/usr/lib/jvm" && ls -d java-17-openjdk-*/ | head -n 1)
ln -s "/usr/lib/jvm/${java%/}" "$root/opt/java"
# Debian keeps the configuration below /etc; the links there are absolute.
say "class data archive"
# Class data sharing halves the time a broker needs to start. The archive knows its jars by path and time: it is made
# with the guest's JVM, in the guest's root.
enter() {
  local as_root=()
  [[ $EUID -eq 0 ]] || as_root=(-r)
  unshare "${as_root[@]}" -m -n --propagation private /bin/sh -c '
    mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && echo $$ >"$0/tmp/pid" &&
      exec chroot "$0" /bin/sh -c "ip link set lo up; exec \"\$@\"" sh "$@"' "$root" "$@"
}
class_path=$(cd "$root" && ls -d opt/kafka/libs/*.jar | sed 's|^|/|' | paste -sd :)
printf '%s' "$class_path" >"$root/opt/kafka/classpath"
# A JVM without an archive of its own, and the tools of Kafka, say which classes a broker needs.
make_archive() {
  local work=$root/tmp/cds
  rm -rf "$work"
  mkdir -p "$work"
  cat >"$work/server.properties" <<PROPERTIES
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:29893
controller.listener.names=CONTROLLER
listeners=PLAINTEXT://127.0.0.1:29892,CONTROLLER://127.0.0.1:29893
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs=/tmp/cds/data
offsets.topic.replication.factor=1
PROPERTIES
  local common=(/opt/java/bin/java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData -Xmx512m -Xshare:off
    -Dlog4j2.configurationFile=/opt/kafka/log4j2.xml -cp "$class_path")
  enter "${common[@]}" kafka.tools.StorageTool format --config /tmp/cds/server.properties --cluster-id AAAAAAAAAAAAAAAAAAAAAA \
    >"$folder/cds.log" 2>&1 || return 1
  rm -f "$root/tmp/pid"
  enter "${common[@]}" -XX:DumpLoadedClassList=/opt/kafka/class-list kafka.Kafka /tmp/cds/server.properties \
    >>"$folder/cds.log" 2>&1 &
  local broker waited=0
  until grep -q 'Kafka Server started' "$folder/cds.log"; do
    sleep 1
    waited=$((waited + 1))
    [[ -f $root/tmp/pid ]] || continue
    broker=$(<"$root/tmp/pid")
    if [[ $waited -gt 300 ]] || ! kill -0 "$broker" 2>/dev/null; then
      kill -9 "$broker" 2>/dev/null || true
      return 1
    fi
  done
  sleep 2
  kill -TERM "$broker"
  wait
  enter /opt/java/bin/java -Xshare:dump >>"$folder/cds.log" 2>&1 || return 1
  enter /opt/java/bin/java -Xshare:dump -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:SharedClassListFile=/opt/kafka/class-list \
    -XX:SharedArchiveFile=/opt/kafka/kafka.jsa -cp "$class_path" >>"$folder/cds.log" 2>&1 || return 1
  rm -rf "$work"
}
if ! make_archive; then
  say "no class data archive (see $folder/cds.log): brokers start more slowly"
  rm -f "$root/opt/kafka/kafka.jsa"
fi
rm -rf "$root"/tmp/* "$root"/dev/*

say "initramfs"
init=$folder/initrd.d
mkdir -p "$init"/{bin,dev,proc,sys,root,modules}
cp "$root/usr/bin/busybox" "$init/bin/busybox"
: >"$init/modules/list"
for module in "${modules[@]}"; do
  file=$(find "$folder/kernel.d" -name "$module.ko*" | head -n 1)
  if [[ -n $file ]]; then
    cp "$file" "$init/modules/"
    echo "${file##*/}" >>"$init/modules/list"
  fi # else built in, as far as one can tell: the guest says if a device is missing
done
cat >"$init/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
for module in $(cat /modules/list); do
  insmod "/modules/$module" || echo "GUEST module $module does not load"
done
waited=0
until [ -b /dev/vda ]; do
  sleep 0.1
  waited=$((waited + 1))
  [ $waited -lt 300 ] || { echo "GUEST FAILED no /dev/vda"; poweroff -f; }
done
mount -t ext4 -o ro /dev/vda /root || { echo "GUEST FAILED root image"; poweroff -f; }
umount /sys /proc
mount --move /dev /root/dev
exec switch_root /root /boot.sh
INIT
chmod 755 "$init/init"
(cd "$init" && find . | ./bin/busybox cpio -o -H newc 2>/dev/null) | gzip -1 >"$folder/initrd"
cp "$folder"/kernel.d/boot/vmlinuz-* "$folder/kernel"

say "root image"
size=$(($(du -sm "$root" | cut -f 1) * 115 / 100 + 64))
rm -f "$folder/root.img"
mke2fs -q -t ext4 -O ^has_journal -E root_owner=0:0 -b 4096 -d "$root" "$folder/root.img" "${size}M"
rm -rf "$root" "$folder/initrd.d" "$folder/kernel.d"
printf '%s' "$stamp" >"$folder/stamp"
say "the guest is built: $(du -sh "$folder" | cut -f 1) in $folder"
