/* process.c - /proc, getrusage, getrlimit. */
#include "process.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

static int64_t resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) {
        return -1;
    }
    char text[128];
    int64_t pages = -1;
    if (fgets(text, sizeof(text), file) == NULL ||
        sscanf(text, "%*s %" SCNd64, &pages) != 1) { // NOLINT(cert-err34-c): the kernel wrote it
        pages = -1;
    }
    (void)fclose(file);
    return pages < 0 ? -1 : pages * sysconf(_SC_PAGESIZE);
}

static int64_t open_fds(void)
{
    DIR *folder = opendir("/proc/self/fd");
    if (folder == NULL) {
        return -1;
    }
    int64_t count = -3; /* ".", "..", and the one that reads */
    // NOLINTNEXTLINE(concurrency-mt-unsafe): each thread reads a stream of its own
    while (readdir(folder) != NULL) {
        count++;
    }
    (void)closedir(folder);
    return count;
}

static int64_t timeval_ms(struct timeval time)
{
    return (int64_t)time.tv_sec * 1000 + time.tv_usec / 1000;
}

static int64_t limit_of(rlim_t limit)
{
    return limit == RLIM_INFINITY || limit > INT64_MAX ? INT64_MAX : (int64_t)limit;
}

struct acog_process_facts acog_process_look(void)
{
    struct acog_process_facts facts = {
        .resident_bytes = resident_bytes(), .open_fds = open_fds(), .max_fds = -1, .cpu_ms = -1};
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0) {
        facts.cpu_ms = timeval_ms(usage.ru_utime) + timeval_ms(usage.ru_stime);
    }
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        facts.max_fds = limit_of(limit.rlim_cur);
    }
    return facts;
}

int64_t acog_process_raise_fds(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
        return -1;
    }
    struct rlimit raised = {.rlim_cur = limit.rlim_max, .rlim_max = limit.rlim_max};
    if (setrlimit(RLIMIT_NOFILE, &raised) == 0) {
        limit = raised;
    }
    return limit_of(limit.rlim_cur);
}
