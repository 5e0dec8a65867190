/*
 * Durable appends through libpmem, as fast as C can do them: what MemoryBench.append is held against.
 *
 *   cc -O2 -o pmem_append pmem_append.c -l:libpmem.so.1
 *   ./pmem_append <directory> <bytes per append> [<rounds>]
 *
 * Each round appends 128 MiB in pieces: pmem_memcpy with non-temporal stores, then the committed
 * length by an 8-byte store and pmem_persist. Prints the median round and the best one, in
 * the thread's processor time: other programs on the machine count less.
 *
 * The prototypes are declared here, so that the library alone is enough and its headers are not needed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void *pmem_map_file(const char *path, size_t len, int flags, mode_t mode, size_t *mapped, int *is_pmem);
void *pmem_memcpy(void *destination, const void *source, size_t length, unsigned flags);
void pmem_persist(const void *address, size_t length);
int pmem_unmap(void *address, size_t length);

#define PMEM_FILE_CREATE 1
#define PMEM_F_MEM_NONTEMPORAL 2u

#define TOTAL (128ul << 20)
#define DATA 4096ul

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double milliseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: %s <directory> <bytes per append> [<rounds>]\n", argv[0]);
		return 2;
	}
	size_t length = strtoul(argv[2], NULL, 10);
	int rounds = argc > 3 ? atoi(argv[3]) : 60;
	if (length == 0 || length > TOTAL || rounds < 2) {
		fprintf(stderr, "bytes per append: 1 to %lu; rounds: from 2\n", TOTAL);
		return 2;
	}

	char path[4096];
	snprintf(path, sizeof path, "%s/pmem_append.%d", argv[1], (int)getpid());
	size_t mapped;
	int is_pmem;
	char *memory = pmem_map_file(path, DATA + TOTAL, PMEM_FILE_CREATE, 0600, &mapped, &is_pmem);
	if (memory == NULL) {
		perror(path);
		return 1;
	}
	unlink(path);
	memset(memory, 1, mapped); /* every page is present */

	char *source = malloc(length);
	double *times = malloc(rounds * sizeof *times);
	if (source == NULL || times == NULL) {
		perror("malloc");
		return 1;
	}
	memset(source, 7, length);

	for (int round = 0; round < rounds; round++) {
		double start = milliseconds();
		for (size_t done = 0; done + length <= TOTAL;) {
			pmem_memcpy(memory + DATA + done, source, length, PMEM_F_MEM_NONTEMPORAL);
			done += length;
			*(volatile uint64_t *)memory = done;
			pmem_persist(memory, sizeof(uint64_t));
		}
		times[round] = milliseconds() - start;
	}

	int measured = rounds / 2; /* the first half warms up */
	qsort(times + rounds - measured, measured, sizeof *times, by_value);
	double best = times[rounds - measured], median = times[rounds - measured + measured / 2];
	size_t appends = TOTAL / length;
	printf("append %zu bytes: median %.3f ms for %lu MiB, %.2f us each, %.2f GB/s; best round %.3f ms, %.2f us each\n",
	       length, median, TOTAL >> 20, median * 1e3 / appends, appends * length / median / 1e6, best,
	       best * 1e3 / appends);
	pmem_unmap(memory, mapped);
	return 0;
}
