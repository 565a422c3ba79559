/* process.h - what the operating system says of this process.
 */
#ifndef ACOG_GATEWAY_PROCESS_H
#define ACOG_GATEWAY_PROCESS_H

#include <stdint.h>

/* -1: not known. */
struct acog_process_facts {
    int64_t resident_bytes;
    int64_t open_fds;
    int64_t max_fds;
    int64_t cpu_ms; /* user and system */
};

struct acog_process_facts acog_process_look(void);

/* Raises the number of files this process may open as far as it is allowed to. Returns what it may open now. */
int64_t acog_process_raise_fds(void);

#endif
