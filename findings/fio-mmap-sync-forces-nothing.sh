#!/usr/bin/env bash
# fio's mmap engine forces no write with sync=1, and each of them with direct=1.
# Versions: fio 3.33 (Debian 12: fio 3.33-3), Linux 6.18.44
# Guess: sync=1 means an msync for each write, as O_SYNC does for the engine sync; direct=1 is refused, or is ignored.
# Seen: Of 16 writes with ioengine=mmap, sync=1 and sync=dsync open the file with O_SYNC and O_DSYNC, which a mapping does
#   not heed, and call msync for none; direct=1 calls it for all 16, and so nearly does fsync=1. fio reports all four.
# Matters: A "synchronous" job for a device that a mapped pool or log is to lie on measures memory, and the one for "direct
#   I/O" measures forces. With this engine ask for fsync=1, and count msync with strace.
set -euo pipefail
for tool in apt-get apt-cache dpkg-deb strace; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/packages" "$tmp/work"
(
  cd "$tmp/packages"
  mapfile -t libraries < <(apt-cache depends --recurse --no-{recommends,suggests,conflicts,breaks,replaces,enhances} fio |
    grep '^lib' | grep -vE '^lib(c6|gcc-s1|crypt1)$' | sort -u | comm -12 - <(apt-cache pkgnames | sort))
  apt-get download -qq fio=3.33-3 "${libraries[@]}"
  for package in *.deb; do dpkg-deb -x "$package" .; done
) >/dev/null 2>&1 || { echo "cannot run: fio 3.33 is not to be had (Debian 12's, by apt-get download)"; exit 3; }
libraries=$(find "$tmp/packages" -name 'lib*.so.*' -printf '%h\n' | sort -u | paste -sd:)
cd "$tmp/work"
seen=
for option in sync=0 sync=1 sync=dsync direct=1 fsync=1; do
  status=0
  strace -f -e trace=msync,openat -o calls -E "LD_LIBRARY_PATH=$libraries" "$tmp/packages/usr/bin/fio" \
    --name=a --filename="$PWD/file" --size=64k --bs=4k --rw=write --ioengine=mmap --thread "--$option" >out 2>&1 || status=$?
  if ! grep -q 'issued rwts: total=0,16,0' out; then
    echo "cannot run: $(tail -n 1 out)"
    exit 3
  fi
  forces=$(grep -c 'msync(' calls || true)
  flags=$(grep "$PWD/file\"" calls | grep -oE 'O_D?SYNC|O_DIRECT' | sort -u | paste -sd' ' || true)
  echo "$option: status $status, opened with ${flags:-nothing more}, 16 writes, $forces msync"
  seen+="$option $flags $forces;"
done
if [ "$seen" = "sync=0  0;sync=1 O_SYNC 0;sync=dsync O_DSYNC 0;direct=1 O_DIRECT 16;fsync=1  15;" ]; then
  echo "as stated"
  exit 0
fi
echo "changed"
exit 1
