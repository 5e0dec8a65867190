#!/usr/bin/env bash
# PMDK's "pmempool check" calls an object pool consistent whose end was cut off, and the library then cannot open it.
# Versions: PMDK 1.12.1 (Debian 12: pmdk-tools, libpmemobj1), Python 3.11
# Guess: A pool that is shorter than its header says is "not consistent", status 1, as a log pool that was cut is.
# Seen: Of an object pool of 20 MiB its first 10 MiB are "consistent", status 0, and so are its first 64 KiB; pmemobj_open
#   refuses both. A log pool cut to 9 of 10 MiB is "not consistent", status 1. The manual page notes that checking an
#   object pool "is not supported"; the command says nothing of it.
# Matters: A copy that ended early (a full disk, an interrupted scp) passes the command that is called check, and the backup
#   is found to be none when it is needed. Compare sizes, or open the copy.
set -euo pipefail
for tool in apt-get dpkg-deb python3 truncate; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/packages" "$tmp/work"
(
  cd "$tmp/packages"
  apt-get download -qq {pmdk-tools,libpmempool1,libpmemblk1,libpmemlog1,libpmemobj1,libpmem1}=1.12.1-2 libndctl6 libdaxctl1 libkmod2
  for package in *.deb; do dpkg-deb -x "$package" .; done
) >/dev/null 2>&1 || { echo "cannot run: PMDK 1.12.1 is not to be had (Debian 12's pmdk-tools, by apt-get download)"; exit 3; }
export PATH=$tmp/packages/usr/bin:$PATH
LD_LIBRARY_PATH=$(find "$tmp/packages" -name 'lib*.so.*' -printf '%h\n' | sort -u | paste -sd:)
export LD_LIBRARY_PATH
cd "$tmp/work"
cat >open.py <<'P'
import ctypes
import sys

library = ctypes.CDLL("libpmemobj.so.1")
library.pmemobj_open.restype = ctypes.c_void_p
print("opened" if library.pmemobj_open(sys.argv[1].encode(), b"notes") else "refused")
P
seen=
look() { # FILE NAME
  local said status=0
  said=$(pmempool check -v "$1" 2>&1 | tail -n 1) || true
  pmempool check "$1" >/dev/null 2>&1 || status=$?
  echo "$2: ${said##*: }, status $status"
  seen+="$2=${said##*: },$status;"
}
pmempool create --layout=notes --size=20M obj obj
pmempool create --size=10M log log
look obj "object pool, whole"
opened=$(python3 open.py obj)
echo "  pmemobj_open: $opened"
seen+="$opened;"
for size in 10M 64K; do
  cp obj cut
  truncate -s "$size" cut
  look cut "object pool, $size of 20M"
  opened=$(python3 open.py cut)
  echo "  pmemobj_open: $opened"
  seen+="$opened;"
done
truncate -s 9M log
look log "log pool, 9M of 10M"
expected="object pool, whole=consistent,0;opened;object pool, 10M of 20M=consistent,0;refused;object pool, 64K of 20M=consistent,0;refused;"
expected+="log pool, 9M of 10M=not consistent,1;"
if [ "$seen" = "$expected" ]; then
  echo "as stated"
  exit 0
fi
echo "changed"
exit 1
