/*
 * Forced appends to blocks that were written before, as fast as C can do them: what ForcedTurn is held against.
 *
 *   cc -O2 -pthread -o forced_append forced_append.c
 *   ./forced_append <directory> <bytes per append> <threads> <appends per thread> <direct|cached|pool>
 *
 * Each thread appends to its own part of one file. direct: O_DIRECT and O_DSYNC, one call for each append; cached: a
 * write into the page cache, then fdatasync. pool: all that a pool of type file writes, with no thread sharing a force: a
 * file that fallocate made, in each 64th append 1 MiB of zeros behind it, after each append a word of 8 bytes in the
 * thread's own block of the file's first MiB, then fdatasync. Bytes: a multiple of 4096. Prints appends per second, of
 * all threads together, without the first fifth of each.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int file, cached, pool, threads;
static size_t length, appends;
static const size_t words = 1 << 20;
static char zeros[1 << 20];
static pthread_barrier_t measured;

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec + now.tv_nsec / 1e9;
}

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *append(void *number)
{
	size_t from = words + (size_t)number * appends * length;
	void *source;
	if (posix_memalign(&source, 4096, length))
		fail("posix_memalign");
	memset(source, 7, length);
	for (size_t i = 0; i < appends; i++) {
		if (i == appends / 5)
			pthread_barrier_wait(&measured);
		if (pwrite(file, source, length, from + i * length) != (ssize_t)length)
			fail("pwrite");
		if (pool && i % 64 == 0 && pwrite(file, zeros, sizeof zeros, from + (i + 1) * length) != sizeof zeros)
			fail("pwrite");
		if (pool && pwrite(file, &i, sizeof i, (size_t)number * 4096) != sizeof i)
			fail("pwrite");
		if (cached && fdatasync(file))
			fail("fdatasync");
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 6) {
		fprintf(stderr, "usage: %s <directory> <bytes per append> <threads> <appends per thread> <direct|cached|pool>\n", argv[0]);
		return 2;
	}
	length = strtoul(argv[2], NULL, 10);
	threads = atoi(argv[3]);
	appends = strtoul(argv[4], NULL, 10);
	cached = strcmp(argv[5], "direct") != 0;
	pool = strcmp(argv[5], "pool") == 0;
	if (length == 0 || length % 4096 || threads < 1 || threads > 64 || appends < 5) {
		fprintf(stderr, "bytes: a multiple of 4096; threads: 1 to 64; appends: from 5\n");
		return 2;
	}
	char path[4096];
	snprintf(path, sizeof path, "%s/forced_append.%d", argv[1], (int)getpid());
	int filled = open(path, O_CREAT | O_RDWR, 0600);
	size_t size = words + threads * appends * length + sizeof zeros;
	if (filled < 0 || (pool && fallocate(filled, 0, 0, size)))
		fail(path);
	for (size_t done = 0; !pool && done < size; done += sizeof zeros)
		if (write(filled, zeros, sizeof zeros) != sizeof zeros)
			fail(path);
	if (fsync(filled))
		fail(path);
	file = cached ? filled : open(path, O_RDWR | O_DIRECT | O_DSYNC);
	if (file < 0)
		fail(path);
	unlink(path);

	pthread_barrier_init(&measured, NULL, threads + 1);
	pthread_t all[64];
	for (long i = 0; i < threads; i++)
		pthread_create(&all[i], NULL, append, (void *)i);
	pthread_barrier_wait(&measured);
	double start = seconds();
	for (int i = 0; i < threads; i++)
		pthread_join(all[i], NULL);
	printf("%.0f\n", threads * (appends - appends / 5) / (seconds() - start));
	return 0;
}
