#!/usr/bin/env bash
# Reading a preallocated file makes SEEK_DATA call it data, so an archive's size depends on who has read the file before.
# Versions: Linux 6.18.44, ext4 and XFS, GNU tar 1.34, Python 3.11.7
# Guess: Reading changes nothing: a file that was preallocated and never written is one hole, before and after.
# Seen: On ext4 and XFS the pages that a read brought into the page cache count as data, for every process, until they
#   leave the cache; the file's extents are still unwritten. "tar -S" of a sparse file with 16 MiB preallocated makes an
#   archive of 10 KiB when the file is fresh, and one of 16 MiB after sha256sum has read it.
# Matters: A checksum or a scan of a pool or of a preallocated log makes the next sparse backup store what was never
#   written, and a program that takes SEEK_DATA for "was written" is wrong.
set -euo pipefail
for tool in python3 tar sha256sum stat; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
base=
for folder in "${TMPDIR:-/tmp}" /var/tmp "$PWD"; do
  kind=$(stat -f -c %T "$folder" 2>/dev/null || true)
  case $kind in
    ext2/ext3 | xfs) base=$folder; break ;;
  esac
done
[ -n "$base" ] || { echo "cannot run: no folder on ext4 or XFS among TMPDIR, /var/tmp and the current one"; exit 3; }
tmp=$(mktemp -d -p "$base")
trap 'rm -rf "$tmp"' EXIT
echo "Linux $(uname -r), file system $kind, $(tar --version | sed -n 1p)"
cat >"$tmp/try.py" <<'P'
import os, subprocess, sys
MIB = 1 << 20
folder = sys.argv[1]
path = os.path.join(folder, "pool")
fd = os.open(path, os.O_RDWR | os.O_CREAT)
try:
    os.posix_fallocate(fd, 0, 16 * MIB)
    os.ftruncate(fd, 64 * MIB)
except OSError as e:
    print("cannot run:", e)
    sys.exit(3)
os.fsync(fd)

def first_data():
    try:
        start = os.lseek(fd, 0, os.SEEK_DATA)
        return start, os.lseek(fd, start, os.SEEK_HOLE)
    except OSError:
        return None

def archived():
    subprocess.run(["tar", "-C", folder, "-Scf", path + ".tar", "pool"], check=True)
    return os.stat(path + ".tar").st_size

fresh, fresh_tar = first_data(), archived()
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
os.pread(fd, MIB, 4 * MIB)
after_read = first_data()
subprocess.run(["sha256sum", path], check=True, stdout=subprocess.DEVNULL)
after_sum, sum_tar = first_data(), archived()
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
dropped = first_data()
print("fresh:", fresh, "size of tar -S:", fresh_tar)
print("after a read of 1 MiB at 4 MiB:", after_read)
print("after sha256sum:", after_sum, "size of tar -S:", sum_tar)
print("after its pages left the cache:", dropped)
seen = fresh is None and after_read and after_read[0] == 4 * MIB and after_sum == (0, 16 * MIB) and dropped is None
sys.exit(0 if seen and fresh_tar < MIB and sum_tar >= 16 * MIB else 1)
P
status=0
python3 "$tmp/try.py" "$tmp" || status=$?
case $status in
  0) echo "as stated"; exit 0 ;;
  3) exit 3 ;;
  *) echo "changed"; exit 1 ;;
esac
