/* storm_test.c - many calls at once, over providers that do what they like, by users who change their minds.
 *
 * Nothing is asserted about any single answer; what must hold is what holds always: a call ends at most once and is
 * silent after a cancel, no event comes in a pause or inside a call, and at the end every connection is idle or closed.
 */
#include "acog/random.h"
#include "fixture.h"

#include <dirent.h>

#define SLOTS      12
#define REQUESTS   300
#define SEEDS      4
#define RUSH       200 /* connections in the making at once: several handles of libcurl's */
#define EVENT_LINE "data: 0123456789\n\n"

struct storm;

struct slot {
    struct storm *storm;
    struct acog_upstream_call *call;
    struct acog_upstream_order order;
    bool paused;
    bool connected;
    bool head;
};

struct storm {
    struct fixture *f;
    uint64_t seed;
    struct slot slots[SLOTS];
    size_t sent;
    size_t over; /* ended, failed or cancelled */
    size_t ends;
    bool inside;
};

static bool one_in(struct storm *storm, int64_t chances)
{
    return acog_random_between(&storm->seed, 1, chances) == 1;
}

static void give_up(struct slot *slot)
{
    slot->storm->inside = true;
    acog_upstream_cancel(&slot->call);
    slot->storm->inside = false;
    slot->storm->over++;
}

static void change_mind(struct slot *slot)
{
    if (one_in(slot->storm, 12)) {
        give_up(slot);
    } else if (one_in(slot->storm, 6)) {
        acog_upstream_pause(slot->call, true);
        slot->paused = true;
    }
}

static void storm_connected(void *user, bool reused)
{
    struct slot *slot = user;
    (void)reused;
    assert_non_null(slot->call);
    assert_false(slot->storm->inside);
    assert_false(slot->connected);
    slot->connected = true;
    change_mind(slot);
}

static void storm_head(void *user, unsigned status, const struct acog_header_row *headers,
                       size_t count)
{
    struct slot *slot = user;
    assert_non_null(slot->call);
    assert_false(slot->paused);
    assert_true(slot->connected);
    assert_false(slot->head);
    assert_true(status >= 200);
    for (size_t i = 0; i < count; i++) {
        assert_true(headers[i].name.len > 0);
    }
    slot->head = true;
    change_mind(slot);
}

static void storm_body(void *user, struct acog_view bytes)
{
    struct slot *slot = user;
    assert_non_null(slot->call);
    assert_false(slot->paused);
    assert_true(slot->head);
    assert_true(bytes.len > 0);
    change_mind(slot);
}

static void storm_end(void *user)
{
    struct slot *slot = user;
    assert_non_null(slot->call);
    assert_false(slot->storm->inside);
    assert_true(slot->head);
    slot->call = NULL;
    slot->storm->over++;
    slot->storm->ends++;
}

static void storm_failed(void *user, enum acog_cause cause, bool reused_no_byte, const char *why)
{
    struct slot *slot = user;
    assert_non_null(slot->call);
    assert_false(slot->storm->inside);
    assert_true(why[0] != '\0');
    assert_true(cause == ACOG_CAUSE_CLOSED || cause == ACOG_CAUSE_CUT ||
                cause == ACOG_CAUSE_BAD_ANSWER);
    assert_false(reused_no_byte && slot->head);
    slot->call = NULL;
    slot->storm->over++;
}

static const struct acog_upstream_events storm_events = {.connected = storm_connected,
                                                         .head = storm_head,
                                                         .body = storm_body,
                                                         .end = storm_end,
                                                         .failed = storm_failed};

#define EVENTS_3 "12\r\n" EVENT_LINE "\r\n12\r\n" EVENT_LINE "\r\n12\r\n" EVENT_LINE "\r\n"
#define CHUNKED  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
#define GZIP     "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 25\r\n\r\n"

static struct scripted pick_reply(struct storm *storm)
{
    const struct scripted kinds[] = {
        {.bytes = ACOG_VIEW("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")},
        {.bytes = ACOG_VIEW(CHUNKED EVENTS_3 "0\r\n\r\n")},
        {.bytes = ACOG_VIEW(CHUNKED EVENTS_3), .then = ACOG_THEN_CLOSE},
        {.bytes = ACOG_VIEW(CHUNKED EVENTS_3), .then = ACOG_THEN_RESET},
        {.bytes = ACOG_VIEW("HTTP/1.1 204 No Content\r\n\r\n")},
        {.bytes = ACOG_VIEW("HTTP/1.1 200 OK\r\n\r\nuntil close"), .then = ACOG_THEN_CLOSE},
        {.bytes = ACOG_VIEW("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok!")},
        {.bytes = ACOG_VIEW("HTTP/1.0 503 Busy\r\nContent-Length: 4\r\n\r\nbusy")},
        {.bytes = ACOG_VIEW("SMTP ready\r\n")},
        {.then = ACOG_THEN_CLOSE},
        {.then = ACOG_THEN_RESET},
        {.bytes = ACOG_VIEW(GZIP "\x1f\x8b\x08\0\0\0\0\0\0\x03\xcb\x48\xcd\xc9\xc9\x07\0"
                                 "\x86\xa6\x10\x36\x05\0\0\0")},
    };
    return kinds[acog_random_between(&storm->seed, 0, sizeof(kinds) / sizeof(kinds[0]) - 1)];
}

static void send_one(struct storm *storm, struct slot *slot)
{
    *slot = (struct slot){.storm = storm, .order = storm->f->order};
    storm->inside = true;
    slot->call = acog_upstream_send(storm->f->upstream, &slot->order, &storm_events, slot);
    storm->inside = false;
    assert_non_null(slot->call);
    storm->sent++;
}

/* One turn: some calls begin, some go on, some are given up, and the loop runs. */
static void blow(struct storm *storm)
{
    for (size_t i = 0; i < SLOTS; i++) {
        struct slot *slot = &storm->slots[i];
        if (slot->call == NULL) {
            if (storm->sent < REQUESTS && one_in(storm, 2)) {
                send_one(storm, slot);
            }
        } else if (slot->paused && one_in(storm, 3)) {
            slot->paused = false;
            acog_upstream_pause(slot->call, false);
        } else if (one_in(storm, 40)) {
            give_up(slot);
        }
    }
    (void)event_base_loop(storm->f->base, EVLOOP_NONBLOCK);
}

static void a_storm_passes_and_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    struct scripted *replies = acog_new(REQUESTS * sizeof(*replies));
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct storm storm = {.f = f, .seed = seed};
        for (size_t i = 0; i < REQUESTS; i++) {
            replies[i] = pick_reply(&storm);
        }
        script(f, replies, REQUESTS);
        size_t turns = 0;
        while (storm.over < REQUESTS) {
            assert_true(turns++ < 1000000);
            blow(&storm);
        }
        settle(f);
        struct acog_upstream_counts counts = acog_upstream_counts(f->upstream);
        assert_true(storm.ends > REQUESTS / 10);
        assert_int_equal(counts.open, counts.idle);
        assert_true(counts.reuses > 0);
    }
    acog_free(replies);
}

static void not_told(void *user, bool reused)
{
    (void)user;
    (void)reused;
    fail_msg("a call that was cancelled was told something");
}

static size_t open_descriptors(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder) != NULL) { /* NOLINT(concurrency-mt-unsafe): one thread */
        count++;
    }
    (void)closedir(folder);
    return count;
}

/* Each multi handle of libcurl has descriptors of its own. */
static void what_a_rush_took_is_given_back(void **state)
{
    struct fixture *f = *state;
    const struct scripted reply = {
        .bytes = ACOG_VIEW("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")};
    static struct acog_upstream_call *calls[RUSH];
    struct acog_upstream_events events = storm_events;
    events.connected = not_told;
    script(f, &reply, 1);
    send_and_finish(f);
    size_t before = open_descriptors();
    for (size_t i = 0; i < RUSH; i++) {
        calls[i] = acog_upstream_send(f->upstream, &f->order, &events, NULL);
        assert_non_null(calls[i]);
    }
    assert_true(open_descriptors() > before);
    for (size_t i = 0; i < RUSH; i++) {
        acog_upstream_cancel(&calls[i]);
    }
    settle(f);
    size_t after = open_descriptors();
    assert_true(after <= before);
    send_and_finish(f);
    assert_int_equal(f->told.ends, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_storm_passes_and_leaves_nothing),
        TEST(what_a_rush_took_is_given_back),
    };
    return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
