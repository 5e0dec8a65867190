#!/usr/bin/env bash
# On overlayfs a read and a mapping of one and the same descriptor disagree for good once another process writes.
# Versions: Linux 6.18.44, Python 3.11.7
# Guess: A descriptor opened for reading before the file is copied up goes on seeing the old file, by read and by map.
# Seen: The read sees the new bytes, and fstat the new size; a shared mapping of the same descriptor has the old bytes,
#   whether it was made before the write or after it. A mapping of a newly opened descriptor has the new ones.
# Matters: Kafka and Lucene map index files and read data files: where such files come with an image's lower layer, one
#   process works with two versions of one file. Keep log directories on a volume.
set -euo pipefail
command -v python3 >/dev/null || { echo "cannot run: no python3"; exit 3; }
if [ "$(id -u)" != 0 ]; then
  [ -z "${INNER:-}" ] && command -v unshare >/dev/null || { echo "cannot run: mounting needs root"; exit 3; }
  unshare -Urm true 2>/dev/null || { echo "cannot run: no root and no user namespaces"; exit 3; }
  INNER=1 exec unshare -Urm "$0"
fi
tmp=$(mktemp -d)
trap 'umount "$tmp/all" "$tmp/fs" 2>/dev/null || true; rm -rf "$tmp"' EXIT
mkdir "$tmp/fs" "$tmp/all"
# A tmpfs below, so that the layers' own file system is the same everywhere.
mount -t tmpfs tmpfs "$tmp/fs" || { echo "cannot run: no tmpfs"; exit 3; }
mkdir "$tmp"/fs/{lower,upper,work}
printf 'old old old old ' >"$tmp/fs/lower/index"
layers="lowerdir=$tmp/fs/lower,upperdir=$tmp/fs/upper,workdir=$tmp/fs/work"
mount -t overlay overlay -o "$layers" "$tmp/all" || { echo "cannot run: no overlayfs"; exit 3; }
echo "Linux $(uname -r)"
python3 - "$tmp/all/index" <<'P' || { echo "changed"; exit 1; }
import mmap, os, subprocess, sys
path = sys.argv[1]
fd = os.open(path, os.O_RDONLY)
early = mmap.mmap(fd, 16, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)
first = early[:3]
write = "import os,sys; f=os.open(sys.argv[1],os.O_RDWR); os.pwrite(f,b'NEW '*5,0); os.fsync(f)"
subprocess.run([sys.executable, "-c", write, path], check=True)
late = mmap.mmap(fd, 16, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)
again = mmap.mmap(os.open(path, os.O_RDONLY), 16, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ)
seen = os.pread(fd, 3, 0), os.fstat(fd).st_size, early[:3], late[:3], again[:3]
print(f"before: {first}; after the other process's write: read {seen[0]}, fstat size {seen[1]}, "
      f"early mapping {seen[2]}, late mapping {seen[3]}, mapping of a new descriptor {seen[4]}")
sys.exit(0 if seen == (b"NEW", 20, b"old", b"old", b"NEW") else 1)
P
echo "as stated"
exit 0
