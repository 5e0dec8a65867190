#!/usr/bin/env bash
# On tmpfs extended attributes use up inodes, and no file can be created any more while all of the memory is free.
# Versions: Linux 6.18.44, Python 3.11.7
# Guess: User attributes on tmpfs are bounded by the mount's size or by memory, and have nothing to do with nr_inodes.
# Seen: On a tmpfs of 64 MiB and 100 inodes the 96th attribute of 1000 bytes on a single file fails with ENOSPC; the
#   mount then reports 0 free inodes and all of its 64 MiB free, and creating a file fails with ENOSPC.
# Matters: A store that tags its files (Strata tags segments, GlusterFS and Samba do) can fill an emptyDir or a test's
#   tmpfs with df still at 0 %; look at df -i, and give nr_inodes room for the attributes.
set -euo pipefail
command -v python3 >/dev/null || { echo "cannot run: no python3"; exit 3; }
if [ "$(id -u)" != 0 ]; then
  [ -z "${INNER:-}" ] && command -v unshare >/dev/null || { echo "cannot run: mounting needs root"; exit 3; }
  unshare -Urm true 2>/dev/null || { echo "cannot run: no root and no user namespaces"; exit 3; }
  INNER=1 exec unshare -Urm "$0"
fi
tmp=$(mktemp -d)
trap 'umount "$tmp" 2>/dev/null || true; rmdir "$tmp"' EXIT
mount -t tmpfs -o size=64m,nr_inodes=100 tmpfs "$tmp" || { echo "cannot run: no tmpfs"; exit 3; }
echo "Linux $(uname -r)"
status=0
python3 - "$tmp" <<'P' || status=$?
import errno, os, sys
folder = sys.argv[1]
path = os.path.join(folder, "segment")
fd = os.open(path, os.O_RDWR | os.O_CREAT)

def free():
    v = os.statvfs(folder)
    return v.f_bavail * v.f_frsize, v.f_favail

def name(call):
    try:
        call()
        return "fine"
    except OSError as e:
        return errno.errorcode[e.errno]

before, count, error = free(), 0, "fine"
while error == "fine" and count < 1000:
    error = name(lambda: os.setxattr(fd, f"user.k{count}", b"v" * 1000))
    if error == "fine":
        count += 1
if count == 0 and error == "ENOTSUP":
    print("cannot run: this kernel has no user attributes on tmpfs (Linux 6.6 and later have)")
    sys.exit(3)
after, create = free(), name(lambda: os.close(os.open(path + "2", os.O_CREAT)))
print(f"free bytes and inodes before: {before}, after {count} attributes: {after}")
print(f"attribute {count + 1}: {error}; a new file: {create}")
seen = error == "ENOSPC" and count < 100 and after[1] == 0 and after[0] == before[0] and create == "ENOSPC"
sys.exit(0 if seen else 1)
P
case $status in
  0) echo "as stated"; exit 0 ;;
  3) exit 3 ;;
  *) echo "changed"; exit 1 ;;
esac
