#!/usr/bin/env bash
# ioping forces each write by itself, and one with -y or -Y (O_DSYNC, O_SYNC) once more.
# Versions: ioping 1.3 (Debian 12: 1.3-1), Linux 6.18.44
# Guess: It writes and stops the clock: -D measures the device's cache, and -y is what adds the force.
# Seen: Of 4 writes, each is followed by an fdatasync within its time: without an option, with -D, and also with -y and -Y,
#   where the write itself has forced already. Only -C, for cached writes, has none.
# Matters: Write latencies of -D are those of a flush, and those of -y are of two. A device without power-loss protection
#   can look twice as slow for O_DSYNC as it is: do not compare O_DSYNC with fdatasync by this tool.
set -euo pipefail
for tool in apt-get dpkg-deb strace; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
{ apt-get download -qq ioping=1.3-1 && dpkg-deb -x ioping_*.deb .; } >/dev/null 2>&1 ||
  { echo "cannot run: ioping 1.3 is not to be had (Debian 12's, by apt-get download)"; exit 3; }
truncate -s 1M file
seen=
for option in -q -D -y -Y -C; do
  strace -f -e trace=openat,fcntl,pwrite64,fdatasync,fsync -o calls \
    usr/bin/ioping -q -WWW -c 4 -i 0 "$option" file >out 2>&1 || { echo "cannot run: $(tail -n 1 out)"; exit 3; }
  flags=$(grep -E '"file"|F_SETFL' calls | grep -oE 'O_D?SYNC|O_DIRECT' | paste -sd' ' || true)
  writes=$(grep -c 'pwrite64(' calls || true)
  forces=$(grep -cE 'f(data)?sync\(' calls || true)
  echo "$option: opened with ${flags:-nothing more}, $writes writes, $forces forces"
  seen+="$option $flags $writes $forces;"
done
if [ "$seen" = "-q  4 4;-D O_DIRECT 4 4;-y O_DSYNC 4 4;-Y O_SYNC 4 4;-C  4 0;" ]; then
  echo "as stated"
  exit 0
fi
echo "changed"
exit 1
