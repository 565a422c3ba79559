/* random.c - splitmix64, as published by its authors (public domain algorithm). */
#include "acog/random.h"

uint64_t acog_random_next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t value = *state;
    value = (value ^ (value >> 30U)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27U)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31U);
}

int64_t acog_random_between(uint64_t *state, int64_t from, int64_t to)
{
    if (to <= from) {
        return from;
    }
    uint64_t span = (uint64_t)to - (uint64_t)from + 1;
    uint64_t value = acog_random_next(state);
    return (int64_t)((uint64_t)from + (span == 0 ? value : value % span));
}
