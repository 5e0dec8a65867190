#!/usr/bin/env bash
# ext4 keeps every block it found when fallocate fails for want of space, and leaves the file that long.
# Versions: Linux 6.18.44, e2fsprogs 1.47.0, xfsprogs 6.1.0, Python 3.11.7
# Guess: An fallocate that fails with ENOSPC changes nothing: size 0, no blocks, on every file system.
# Seen: XFS and tmpfs do that. On ext4 an empty file on a disk of 64 MiB is tens of MiB long after the error, and no
#   block is left free; with FALLOC_FL_KEEP_SIZE the file is even 0 bytes long and still holds all of the disk.
# Matters: A pool, a log or a database file that did not fit leaves a full disk behind, and every other writer of that
#   disk fails next; the program that preallocates has to truncate the file after the error.
set -euo pipefail
for tool in python3 mkfs.ext4 losetup; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(id -u)" = 0 ] || { echo "cannot run: loop devices need root"; exit 3; }
tmp=$(mktemp -d)
trap 'umount "$tmp"/mnt/* 2>/dev/null || true; rm -rf "$tmp"' EXIT
mkdir -p "$tmp"/mnt/{ext4,xfs,tmpfs}
truncate -s 64M "$tmp/ext4.img"
mkfs.ext4 -q "$tmp/ext4.img"
mount -o loop "$tmp/ext4.img" "$tmp/mnt/ext4" || { echo "cannot run: no loop mount"; exit 3; }
mount -t tmpfs -o size=64m tmpfs "$tmp/mnt/tmpfs" || { echo "cannot run: no tmpfs"; exit 3; }
if command -v mkfs.xfs >/dev/null; then
  truncate -s 400M "$tmp/xfs.img"
  mkfs.xfs -q "$tmp/xfs.img" && mount -o loop "$tmp/xfs.img" "$tmp/mnt/xfs" || true
fi
uname -r
mkfs.ext4 -V 2>&1 | sed -n 1p
cat >"$tmp/try.py" <<'P'
import ctypes, errno, os, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]
as_stated = True
for kind in ("ext4", "xfs", "tmpfs"):
    folder = os.path.join(sys.argv[1], kind)
    if not os.path.ismount(folder):
        continue
    for mode, name in ((0, "mode 0"), (1, "KEEP_SIZE")):
        free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
        fd = os.open(os.path.join(folder, "pool"), os.O_RDWR | os.O_CREAT)
        failed = libc.fallocate(fd, mode, 0, free + (16 << 20)) != 0 and ctypes.get_errno() == errno.ENOSPC
        found = os.fstat(fd)
        left = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
        print(f"{kind:5} {name:9} ENOSPC={failed} size={found.st_size} held={found.st_blocks * 512} free {free} -> {left}")
        kept = found.st_blocks * 512 >= free and left == 0 and (found.st_size > 0) == (mode == 0)
        nothing = found.st_blocks == 0 and found.st_size == 0 and left == free
        as_stated &= failed and (kept if kind == "ext4" else nothing)
        os.close(fd)
        os.unlink(os.path.join(folder, "pool"))
sys.exit(0 if as_stated else 1)
P
python3 "$tmp/try.py" "$tmp/mnt" || { echo "changed"; exit 1; }
echo "as stated"
exit 0
