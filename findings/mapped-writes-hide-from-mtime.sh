#!/usr/bin/env bash
# On tmpfs a mapped file's time of modification moves once, at a page's first write, and rsync then misses all later ones.
# Versions: Linux 6.18.44, rsync 3.5.0, Python 3.11.7
# Guess: Each write through a shared mapping shows in the file's mtime at the latest when the page is synced (msync).
# Seen: On tmpfs only the first store to each page moves mtime. A page stored to again and synced leaves mtime where it
#   was, also seconds later, and "rsync -a" calls the changed file up to date; rsync -c copies it.
# Matters: A pool on tmpfs or /dev/shm (and any file that is mapped for long) is not backed up by tools that compare size
#   and mtime, though every byte of it may have changed; use checksums, or set the time when the pool is closed.
set -euo pipefail
for tool in python3 rsync; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] || { echo "cannot run: /dev/shm is no tmpfs"; exit 3; }
tmp=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/pool" "$tmp/backup"
echo "Linux $(uname -r), $(rsync --version | sed -n 1p)"
python3 - "$tmp" <<'P' || { echo "changed"; exit 1; }
import mmap, os, subprocess, sys, time
folder = sys.argv[1]
path, backup = os.path.join(folder, "pool", "file"), os.path.join(folder, "backup", "file")
with open(path, "wb") as f:
    f.write(bytes(4 * mmap.PAGESIZE))
pool = mmap.mmap(os.open(path, os.O_RDWR), 0)

def stored(value):
    time.sleep(1.2)
    before = os.stat(path).st_mtime_ns
    pool[0:4] = value
    pool.flush()
    os.sync()
    return os.stat(path).st_mtime_ns > before

def rsync(*options):
    subprocess.run(["rsync", "-a", *options, folder + "/pool/", folder + "/backup/"], check=True)
    with open(backup, "rb") as f:
        return f.read(4)

moved = [stored(b"one ")]
copies = [rsync()]
moved.append(stored(b"two "))
copies += [rsync(), rsync("-c")]
print("mtime moved by the first store and msync:", moved[0], "- by the second:", moved[1])
print("the pool has", pool[0:4], "- rsync -a after the first:", copies[0], "after the second:", copies[1], "rsync -c:", copies[2])
sys.exit(0 if moved == [True, False] and copies == [b"one ", b"one ", b"two "] else 1)
P
echo "as stated"
exit 0
