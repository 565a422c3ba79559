/* receipts.c - the ring. */
#include "receipts.h"

#include "acog/contract.h"
#include "acog/memory.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#define KEPT_BYTES   ((size_t)4096) /* of a buffer that is used again */
#define ID_BYTES_MAX 128            /* as long as the exchange lets one be */

struct receipt {
    size_t id_bytes; /* 0: nothing is kept here */
    char id[ID_BYTES_MAX];
    struct acog_buffer record;
};

struct acog_receipts {
    pthread_mutex_t lock;
    size_t count;
    size_t next;          /* the oldest one: its place is taken next */
    struct receipt *list; /* owned */
};

struct acog_receipts *acog_receipts_new(size_t count)
{
    ACOG_ASSERT(count > 0);
    struct acog_receipts *receipts = acog_new(sizeof(*receipts));
    struct receipt *list =
        count > SIZE_MAX / sizeof(*list) ? NULL : acog_new(count * sizeof(*list));
    if (receipts == NULL || list == NULL || pthread_mutex_init(&receipts->lock, NULL) != 0) {
        acog_free(receipts);
        acog_free(list);
        return NULL;
    }
    receipts->count = count;
    receipts->list = list;
    for (size_t i = 0; i < count; i++) {
        acog_buffer_init(&list[i].record, ACOG_RECEIPT_BYTES_MAX);
    }
    return receipts;
}

void acog_receipts_free(struct acog_receipts **receipts)
{
    struct acog_receipts *gone = *receipts;
    if (gone == NULL) {
        return;
    }
    for (size_t i = 0; i < gone->count; i++) {
        acog_buffer_fini(&gone->list[i].record);
    }
    (void)pthread_mutex_destroy(&gone->lock);
    acog_free(gone->list);
    acog_free(gone);
    *receipts = NULL;
}

void acog_receipts_add(struct acog_receipts *receipts, struct acog_view request_id,
                       struct acog_buffer *rendered)
{
    if (request_id.len == 0 || request_id.len > ID_BYTES_MAX) {
        return;
    }
    (void)pthread_mutex_lock(&receipts->lock);
    struct receipt *receipt = &receipts->list[receipts->next];
    struct acog_buffer old = receipt->record;
    receipts->next = (receipts->next + 1) % receipts->count;
    receipt->record = *rendered;
    receipt->id_bytes = request_id.len;
    memcpy(receipt->id, request_id.ptr, request_id.len);
    (void)pthread_mutex_unlock(&receipts->lock);
    acog_buffer_clear(&old, KEPT_BYTES);
    *rendered = old;
}

enum acog_code acog_receipts_find(struct acog_receipts *receipts, struct acog_view request_id,
                                  struct acog_buffer *out)
{
    enum acog_code code = ACOG_NOT_FOUND;
    (void)pthread_mutex_lock(&receipts->lock);
    for (size_t i = 0; i < receipts->count && code == ACOG_NOT_FOUND; i++) {
        size_t at = (receipts->next + receipts->count - 1 - i) % receipts->count;
        const struct receipt *receipt = &receipts->list[at];
        const struct acog_view id = {.ptr = receipt->id, .len = receipt->id_bytes};
        if (id.len > 0 && acog_view_equal(id, request_id)) {
            code = acog_buffer_append(out, acog_buffer_view(&receipt->record));
        }
    }
    (void)pthread_mutex_unlock(&receipts->lock);
    return code;
}
