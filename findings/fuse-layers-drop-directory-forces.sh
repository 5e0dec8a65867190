#!/usr/bin/env bash
# bindfs, mergerfs, unionfs-fuse and encfs accept the force of a directory and pass none on.
# Versions: bindfs 1.14.7, mergerfs 2.33.5, unionfs-fuse 1.0, encfs 1.9.5, fuse-overlayfs 1.10 (Debian 12), Linux 6.18
# Guess: Each passes fsync of a directory on, as it does for a file, or refuses it.
# Seen: A file is written, forced and renamed, and its directory is forced: all five report success. Below the first
#   four, strace sees one force of the file and none of the directory. fuse-overlayfs makes both.
# Matters: A program that renames a complete file into place and forces the directory has done what it can, and after a
#   power failure the name may be missing. Pools of cheap disks are often such a mount: keep log directories off it.
set -euo pipefail
for tool in apt-get apt-cache dpkg-deb strace python3 mountpoint umount; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(id -u)" = 0 ] && [ -c /dev/fuse ] || { echo "cannot run: mounting needs root and /dev/fuse"; exit 3; }
tmp=$(mktemp -d)
trap 'umount "$tmp"/*/upper 2>/dev/null || true; rm -rf "$tmp"' EXIT
mkdir "$tmp/packages"
layers=(bindfs mergerfs unionfs-fuse encfs fuse-overlayfs)
(
  cd "$tmp/packages"
  mapfile -t libraries < <(apt-cache depends --recurse --no-{recommends,suggests,conflicts,breaks,replaces,enhances} \
    "${layers[@]}" | grep -E '^lib(fuse|ssl|tinyxml)' | sort -u | comm -12 - <(apt-cache pkgnames | sort))
  apt-get download -qq bindfs=1.14.7-1 mergerfs=2.33.5-1 unionfs-fuse=1.0-1+b1 encfs=1.9.5-2 fuse-overlayfs=1.10-1 \
    "${libraries[@]}"
  for package in *.deb; do dpkg-deb -x "$package" .; done
) >/dev/null 2>&1 || { echo "cannot run: Debian 12's packages are not to be had by apt-get download"; exit 3; }
libraries=$(find "$tmp/packages" -name 'lib*.so.*' -printf '%h\n' | sort -u | paste -sd:)
cat >"$tmp/publish.py" <<'PYTHON'
import os, sys
top = sys.argv[1]
file = os.open(top + "/new", os.O_CREAT | os.O_WRONLY)
os.write(file, b"record")
os.fsync(file)
os.close(file)
os.rename(top + "/new", top + "/log")
directory = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
os.fsync(directory)
os.close(directory)
PYTHON

# Mounts a layer over "below", publishes a file in it, and counts the forces that arrive: NAME COMMAND...
layer() {
  local name=$1 top=$tmp/$1
  shift
  mkdir "$top" "$top/below" "$top/upper" "$top/lower" "$top/work"
  cd "$top"
  strace -f -y -e signal=none -e trace=fsync,fdatasync,syncfs,sync -o calls -E "LD_LIBRARY_PATH=$libraries" \
    "$tmp/packages/usr/bin/$1" "${@:2}" >out 2>&1 &
  for _ in {1..100}; do
    mountpoint -q "$top/upper" && break
    sleep 0.1
  done
  mountpoint -q "$top/upper" || { echo "cannot run: $name is not mounted: $(tail -n 1 out)"; exit 3; }
  python3 "$tmp/publish.py" "$top/upper"
  umount "$top/upper"
  wait $! || true
  local files directories
  files=$(grep -c "sync([0-9]*<$top/below/" calls || true)
  directories=$(grep -cE "sync\([0-9]*<$top/below/?>|sync(fs)?\((\)|[0-9]+<$top/below>)" calls || true)
  echo "$name: both forces succeed; below it, $files of the file and $directories of the directory"
  seen+="$name $files $directories;"
}

seen=
layer bindfs bindfs -f "$tmp/bindfs/below" "$tmp/bindfs/upper"
layer mergerfs mergerfs -f "$tmp/mergerfs/below" "$tmp/mergerfs/upper"
layer unionfs unionfs -f "$tmp/unionfs/below=RW" "$tmp/unionfs/upper"
layer encfs encfs -f --standard --extpass="echo password" "$tmp/encfs/below" "$tmp/encfs/upper"
layer fuse-overlayfs fuse-overlayfs -f -o "lowerdir=$tmp/fuse-overlayfs/lower,upperdir=$tmp/fuse-overlayfs/below" \
  -o "workdir=$tmp/fuse-overlayfs/work" "$tmp/fuse-overlayfs/upper"
if [ "$seen" = "bindfs 1 0;mergerfs 1 0;unionfs 1 0;encfs 1 0;fuse-overlayfs 1 1;" ]; then
  echo "as stated"
  exit 0
fi
echo "changed"
exit 1
