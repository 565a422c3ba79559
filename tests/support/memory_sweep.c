/* memory_sweep.c - see memory_sweep.h. */
#include "tests/support/memory_sweep.h"

#include "acog/contract.h"
#include "acog/memory.h"

#define FIRST_ONES 64

struct sweep {
    size_t at;   /* the allocation that fails */
    size_t seen; /* so far */
    bool lasting;
    bool failed;
    unsigned spared; /* nested */
};

static _Thread_local struct sweep sweep;

static bool fails(void *user)
{
    (void)user;
    if (sweep.spared > 0) {
        return false;
    }
    bool now = sweep.seen == sweep.at || (sweep.lasting && sweep.seen > sweep.at);
    sweep.seen++;
    sweep.failed = sweep.failed || now;
    return now;
}

bool memory_sweep_failed(void)
{
    return sweep.failed;
}

void memory_sweep_spare(void)
{
    sweep.spared++;
}

void memory_sweep_fail_again(void)
{
    ACOG_ASSERT(sweep.spared > 0);
    sweep.spared--;
}

/* Whether an allocation failed. */
static bool tell(memory_story *story, void *user, size_t at, bool lasting)
{
    sweep = (struct sweep){.at = at, .lasting = lasting};
    acog_memory_fail_when(fails, NULL);
    story(user);
    acog_memory_fail_when(NULL, NULL);
    ACOG_ASSERT(sweep.spared == 0);
    return sweep.failed;
}

size_t memory_sweep(memory_story *story, void *user, size_t step)
{
    size_t at = 0;
    while (tell(story, user, at, false)) {
        (void)tell(story, user, at, true);
        at += at < FIRST_ONES ? 1 : step;
        ACOG_ASSERT(at < MEMORY_SWEEP_MAX);
    }
    return sweep.seen;
}
