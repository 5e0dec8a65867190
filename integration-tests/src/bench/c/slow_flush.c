/*
 * A disk whose flush takes 8 ms longer: for LD_PRELOAD under nbdkit's file plugin, which forces its file at each flush
 * of the block device. The file system above decides how many flushes a force needs.
 *
 *   cc -O2 -shared -fPIC -o slow_flush.so slow_flush.c -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

static int flush(const char *name, int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  int result = real(fd);
  struct timespec longer = {0, 8 * 1000 * 1000};
  nanosleep(&longer, NULL);
  return result;
}

int fdatasync(int fd) {
  return flush("fdatasync", fd);
}

int fsync(int fd) {
  return flush("fsync", fd);
}
