/* circuit_test.c - the transitions of a circuit's word, and many threads on one word. */
#include "acog/circuit.h"

#include "circuit_word.h"
#include "tests/support/check.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static const struct acog_circuit_limits two_failures = {
    .threshold = 2, .cooldown_ms = 30000, .factor = 1, .cooldown_ms_max = 30000};
static const struct acog_circuit_limits doubling = {.threshold = 1,
                                                    .cooldown_ms = 300,
                                                    .factor = 2,
                                                    .cooldown_ms_max = 1800,
                                                    .only_probe_closes = true};

/* A dispatch and its result in one. */
static bool sends(acog_circuit *circuit, enum acog_circuit_result result,
                  const struct acog_circuit_limits *limits, int64_t now_ms)
{
    struct acog_circuit_ticket ticket;
    if (!acog_circuit_take(circuit, now_ms, false, &ticket)) {
        return false;
    }
    acog_circuit_settle(circuit, ticket, result, limits, now_ms);
    return true;
}

static void opened_once(acog_circuit *circuit, int64_t now_ms)
{
    atomic_store(circuit, 0);
    assert_true(sends(circuit, ACOG_CIRCUIT_CHARGED, &two_failures, now_ms));
    assert_true(sends(circuit, ACOG_CIRCUIT_CHARGED, &two_failures, now_ms));
    assert_int_equal(acog_circuit_look(circuit, &two_failures, now_ms).state, ACOG_CIRCUIT_OPEN);
}

static void packs_and_unpacks_every_field(void **state)
{
    (void)state;
    static const struct acog_circuit_fields rows[] = {
        {.state = ACOG_CIRCUIT_CLOSED},
        {.state = ACOG_CIRCUIT_PROBING,
         .failures = 255,
         .level = 15,
         .generation = 4095,
         .until_ms = ACOG_CIRCUIT_UNTIL_MAX},
        {.state = ACOG_CIRCUIT_OPEN, .failures = 1, .until_ms = 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct acog_circuit_fields got = acog_circuit_unpack(acog_circuit_pack(rows[i]));
        assert_memory_equal(&got, &rows[i], sizeof got);
    }
    struct acog_circuit_fields far = {.state = ACOG_CIRCUIT_OPEN, .until_ms = INT64_MAX};
    assert_int_equal(acog_circuit_unpack(acog_circuit_pack(far)).until_ms, ACOG_CIRCUIT_UNTIL_MAX);
    assert_int_equal(acog_circuit_pack(rows[0]), 0);
}

static void opens_after_two_failures_in_sequence(void **state)
{
    (void)state;
    acog_circuit circuit = 0;
    assert_true(sends(&circuit, ACOG_CIRCUIT_CHARGED, &two_failures, 0));
    assert_true(sends(&circuit, ACOG_CIRCUIT_ANSWERED, &two_failures, 0));
    assert_true(sends(&circuit, ACOG_CIRCUIT_CHARGED, &two_failures, 0));
    assert_true(acog_circuit_look(&circuit, &two_failures, 0).admits);
    assert_true(sends(&circuit, ACOG_CIRCUIT_CHARGED, &two_failures, 7));
    struct acog_circuit_view view = acog_circuit_look(&circuit, &two_failures, 8);
    assert_int_equal(view.state, ACOG_CIRCUIT_OPEN);
    assert_false(view.admits);
    assert_int_equal(view.until_ms, 30007);
    assert_int_equal(view.opened_at_ms, 7);
    assert_false(sends(&circuit, ACOG_CIRCUIT_ANSWERED, &two_failures, 30006));
}

static void a_fault_of_the_request_neither_adds_nor_resets(void **state)
{
    (void)state;
    acog_circuit circuit = 0;
    assert_true(sends(&circuit, ACOG_CIRCUIT_CHARGED, &two_failures, 0));
    assert_true(sends(&circuit, ACOG_CIRCUIT_NOT_CHARGED, &two_failures, 0)); /* G0.3 */
    assert_true(sends(&circuit, ACOG_CIRCUIT_GIVEN_BACK, &two_failures, 0));
    assert_int_equal(acog_circuit_look(&circuit, &two_failures, 0).failures, 1);
}

static void a_trip_opens_at_once(void **state)
{
    (void)state;
    acog_circuit circuit = 0;
    struct acog_circuit_ticket ticket;
    assert_true(acog_circuit_take(&circuit, 0, false, &ticket));
    assert_true(acog_circuit_settle(&circuit, ticket, ACOG_CIRCUIT_TRIPPED, &two_failures, 0));
    assert_int_equal(acog_circuit_look(&circuit, &two_failures, 0).state, ACOG_CIRCUIT_OPEN);
}

static void lets_one_probe_through(void **state)
{
    (void)state;
    acog_circuit circuit;
    struct acog_circuit_ticket probe;
    struct acog_circuit_ticket other;
    opened_once(&circuit, 0);
    assert_true(acog_circuit_look(&circuit, &two_failures, 30000).would_probe);
    assert_true(acog_circuit_take(&circuit, 30000, false, &probe));
    assert_true(probe.probe);
    assert_false(acog_circuit_take(&circuit, 30000, false, &other));
    assert_false(acog_circuit_look(&circuit, &two_failures, 99999).admits);
    assert_true(acog_circuit_take(&circuit, 30000, true, &other)); /* forced: no probe */
    assert_false(other.probe);
}

static void the_probe_decides(void **state)
{
    (void)state;

    static const struct {
        enum acog_circuit_result result;
        enum acog_circuit_state state;
        bool opens;
    } rows[] = {
        {ACOG_CIRCUIT_ANSWERED, ACOG_CIRCUIT_CLOSED, false},
        {ACOG_CIRCUIT_NOT_CHARGED, ACOG_CIRCUIT_CLOSED, false}, /* decision 12, G0.2 */
        {ACOG_CIRCUIT_CHARGED, ACOG_CIRCUIT_OPEN, true},
        {ACOG_CIRCUIT_TRIPPED, ACOG_CIRCUIT_OPEN, true},
        {ACOG_CIRCUIT_GIVEN_BACK, ACOG_CIRCUIT_OPEN, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        acog_circuit circuit;
        struct acog_circuit_ticket probe;
        opened_once(&circuit, 0);
        assert_true(acog_circuit_take(&circuit, 30000, false, &probe));
        assert_int_equal(acog_circuit_settle(&circuit, probe, rows[i].result, &two_failures, 31000),
                         rows[i].opens);
        struct acog_circuit_view view = acog_circuit_look(&circuit, &two_failures, 31000);
        assert_int_equal(view.state, rows[i].state);
        /* Given back: the next one may probe at once. Failed: a fresh cooldown (S0.51). */
        assert_int_equal(view.admits, rows[i].opens == false);
        if (rows[i].opens) {
            assert_int_equal(view.until_ms, 61000);
        }
    }
}

static void the_cooldown_doubles_up_to_the_longest(void **state)
{
    (void)state;
    static const int64_t wanted_ms[] = {300, 600, 1200, 1800, 1800};
    acog_circuit circuit = 0;
    int64_t now_ms = 0;
    for (size_t i = 0; i < 5; i++) {
        assert_true(sends(&circuit, ACOG_CIRCUIT_CHARGED, &doubling, now_ms));
        struct acog_circuit_view view = acog_circuit_look(&circuit, &doubling, now_ms);
        assert_int_equal(view.until_ms - now_ms, wanted_ms[i]); /* S2.30 */
        assert_int_equal(view.opened_at_ms, now_ms);
        now_ms = view.until_ms;
    }
    assert_true(sends(&circuit, ACOG_CIRCUIT_ANSWERED, &doubling, now_ms));
    assert_true(sends(&circuit, ACOG_CIRCUIT_CHARGED, &doubling, now_ms));
    assert_int_equal(acog_circuit_look(&circuit, &doubling, now_ms).until_ms - now_ms, 300);
}

static void a_result_from_before_the_opening_changes_nothing(void **state)
{
    (void)state;

    static const enum acog_circuit_result results[] = {
        ACOG_CIRCUIT_ANSWERED, ACOG_CIRCUIT_CHARGED, ACOG_CIRCUIT_TRIPPED, ACOG_CIRCUIT_NOT_CHARGED,
        ACOG_CIRCUIT_GIVEN_BACK};

    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        acog_circuit circuit = 0;
        struct acog_circuit_ticket early;
        assert_true(acog_circuit_take(&circuit, 0, false, &early));
        assert_true(sends(&circuit, ACOG_CIRCUIT_TRIPPED, &two_failures, 0));
        uint64_t word = atomic_load(&circuit);
        assert_false(acog_circuit_settle(&circuit, early, results[i], &two_failures, 9000));
        assert_true(atomic_load(&circuit) == word);
    }
}

static void a_forced_answer_closes_unless_only_the_probe_may(void **state)
{
    (void)state;
    struct acog_circuit_limits limits = two_failures;
    for (int only_probe = 0; only_probe <= 1; only_probe++) {
        acog_circuit circuit;
        struct acog_circuit_ticket forced;
        limits.only_probe_closes = only_probe == 1;
        opened_once(&circuit, 0);
        assert_true(acog_circuit_take(&circuit, 100, true, &forced));
        assert_false(forced.probe);
        acog_circuit_settle(&circuit, forced, ACOG_CIRCUIT_ANSWERED, &limits, 200);
        struct acog_circuit_view view = acog_circuit_look(&circuit, &limits, 200);
        assert_int_equal(view.state, only_probe == 1 ? ACOG_CIRCUIT_OPEN : ACOG_CIRCUIT_CLOSED);
        assert_int_equal(view.failures, 0);
    }
}

static void a_forced_failure_counts_and_does_not_prolong(void **state)
{
    (void)state;
    acog_circuit circuit;
    struct acog_circuit_ticket forced;
    opened_once(&circuit, 0);
    assert_true(acog_circuit_take(&circuit, 100, true, &forced));
    assert_false(acog_circuit_settle(&circuit, forced, ACOG_CIRCUIT_TRIPPED, &two_failures, 29000));
    struct acog_circuit_view view = acog_circuit_look(&circuit, &two_failures, 29000);
    assert_int_equal(view.until_ms, 30000);
    assert_int_equal(view.failures, 3);
}

static void an_older_clock_never_shortens_a_cooldown(void **state)
{
    (void)state;
    acog_circuit circuit;
    struct acog_circuit_ticket probe;
    opened_once(&circuit, 1000);
    assert_true(acog_circuit_take(&circuit, 31000, false, &probe));
    acog_circuit_settle(&circuit, probe, ACOG_CIRCUIT_CHARGED, &two_failures, 500);
    assert_true(acog_circuit_look(&circuit, &two_failures, 500).until_ms >= 31000);
}

static void failures_stop_counting_at_their_width(void **state)
{
    (void)state;
    acog_circuit circuit = 0;
    struct acog_circuit_limits limits = two_failures;
    limits.threshold = 255;
    for (int i = 0; i < 254; i++) {
        assert_true(sends(&circuit, ACOG_CIRCUIT_CHARGED, &limits, 0));
    }
    assert_true(acog_circuit_look(&circuit, &limits, 0).admits);
    assert_true(sends(&circuit, ACOG_CIRCUIT_CHARGED, &limits, 0));
    assert_false(acog_circuit_look(&circuit, &limits, 0).admits);
}

static void a_cooldown_never_leaves_its_type(void **state)
{
    (void)state;
    struct acog_circuit_limits limits = {.threshold = 1,
                                         .cooldown_ms = INT64_MAX / 2,
                                         .factor = UINT32_MAX,
                                         .cooldown_ms_max = INT64_MAX / 2};
    assert_int_equal(acog_circuit_cooldown_ms(&limits, 15), INT64_MAX / 2);
}

/* -- many threads ---------------------------------------------------------------------------------- */

#define THREADS 8
#define ROUNDS  20000

struct hammer {
    acog_circuit circuit;
    _Atomic int64_t clock_ms;
    _Atomic int probes_out;
    _Atomic int probes_at_once_max;
    _Atomic int openings;
    _Atomic int probes;
};

static void *hammer(void *user)
{
    struct hammer *shared = user;
    uint64_t mix = (uint64_t)(uintptr_t)&mix;
    for (int i = 0; i < ROUNDS; i++) {
        int64_t now_ms = atomic_fetch_add(&shared->clock_ms, 1);
        struct acog_circuit_ticket ticket;
        if (!acog_circuit_take(&shared->circuit, now_ms, false, &ticket)) {
            continue;
        }
        if (ticket.probe) {
            int out = atomic_fetch_add(&shared->probes_out, 1) + 1;
            if (out > atomic_load(&shared->probes_at_once_max)) {
                atomic_store(&shared->probes_at_once_max, out);
            }
            atomic_fetch_add(&shared->probes, 1);
            (void)sched_yield();                      /* the others meet it while it is out */
            atomic_fetch_sub(&shared->probes_out, 1); /* before the settling lets another one out */
        }
        mix = mix * UINT64_C(6364136223846793005) + 1;

        static const enum acog_circuit_result results[] = {
            ACOG_CIRCUIT_CHARGED, ACOG_CIRCUIT_ANSWERED, ACOG_CIRCUIT_CHARGED,
            ACOG_CIRCUIT_GIVEN_BACK};
        const struct acog_circuit_limits limits = {
            .threshold = 2, .cooldown_ms = 20, .factor = 1, .cooldown_ms_max = 20};
        if (acog_circuit_settle(&shared->circuit, ticket, results[mix >> 62U], &limits, now_ms)) {
            atomic_fetch_add(&shared->openings, 1);
        }
    }
    return NULL;
}

static void many_threads_never_have_two_probes(void **state)
{
    (void)state;
    static struct hammer shared;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, &shared), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_int_equal(atomic_load(&shared.probes_at_once_max), 1);
    assert_true(atomic_load(&shared.probes) > 0);
    /* Each opening was told to exactly one caller. */
    assert_int_equal((uint32_t)atomic_load(&shared.openings) % ACOG_CIRCUIT_GENERATIONS,
                     acog_circuit_unpack(atomic_load(&shared.circuit)).generation);
    assert_int_not_equal(acog_circuit_unpack(atomic_load(&shared.circuit)).state,
                         ACOG_CIRCUIT_PROBING);
}

static void *fail_once(void *user)
{
    struct hammer *shared = user;
    struct acog_circuit_ticket ticket;
    const struct acog_circuit_limits limits = {
        .threshold = THREADS, .cooldown_ms = 1000, .factor = 1, .cooldown_ms_max = 1000};
    if (acog_circuit_take(&shared->circuit, 0, false, &ticket) &&
        acog_circuit_settle(&shared->circuit, ticket, ACOG_CIRCUIT_CHARGED, &limits, 0)) {
        atomic_fetch_add(&shared->openings, 1);
    }
    return NULL;
}

static void failures_of_many_threads_add_up_and_open_once(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        struct hammer shared = {0};
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, fail_once, &shared), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        }
        assert_int_equal(atomic_load(&shared.openings), 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packs_and_unpacks_every_field),
        cmocka_unit_test(opens_after_two_failures_in_sequence),
        cmocka_unit_test(a_fault_of_the_request_neither_adds_nor_resets),
        cmocka_unit_test(a_trip_opens_at_once),
        cmocka_unit_test(lets_one_probe_through),
        cmocka_unit_test(the_probe_decides),
        cmocka_unit_test(the_cooldown_doubles_up_to_the_longest),
        cmocka_unit_test(a_result_from_before_the_opening_changes_nothing),
        cmocka_unit_test(a_forced_answer_closes_unless_only_the_probe_may),
        cmocka_unit_test(a_forced_failure_counts_and_does_not_prolong),
        cmocka_unit_test(an_older_clock_never_shortens_a_cooldown),
        cmocka_unit_test(failures_stop_counting_at_their_width),
        cmocka_unit_test(a_cooldown_never_leaves_its_type),
        cmocka_unit_test(many_threads_never_have_two_probes),
        cmocka_unit_test(failures_of_many_threads_add_up_and_open_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
