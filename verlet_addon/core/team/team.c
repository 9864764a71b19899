/* Threads that share the parts of a loop: see team.h, and threads.py, to which the threads belong.

   One thread leads: it calls `share`. The others are in `help_team`. Each first claims the parts of a
   range of its own, whose data are in the cache of its processor from loop to loop, and then what is
   left of the others' ranges. The leader waits for parts that a helper holds, and never for a helper
   that is late, asleep or gone. */
#include "team.h"

#define MAX_TEAM 64
#define CACHE_LINES 128 /* bytes that processors pass to each other at once */
/* Rounds of waiting after which a thread lets others run, and after which it sleeps: some 0.1 ms, and
   some hundred turns of the system. */
#define SPINS 4000
#define YIELDS 2000
/* A leader that waits for longer than SPINS, and than it has worked on its own parts, has helpers
   without a processor, as others run programs too. So many loops it runs alone then, and twice as many
   after each further time. */
#define FEWEST_ALONE 1024
#define MOST_ALONE 32768

/* Numbers that several threads write, each on cache lines of its own. */
typedef struct {
    uint64_t value;
    char apart[CACHE_LINES - sizeof(uint64_t)];
} shared_number;

typedef struct team {
    shared_number turn;              /* number of the loop << 32 | threads << 24 | parts */
    shared_number done;              /* parts that are finished */
    shared_number busy;              /* whether a thread leads a loop */
    shared_number dismissed;         /* whether helpers shall leave */
    shared_number claimed[MAX_TEAM]; /* of each range: number of the loop << 32 | parts taken */
    part_function *run;
    const void *loop;
    integer size, reals; /* threads in use; numbers of scratch memory of each thread */
    real *scratch;
    void (*yield)(void), (*sleep)(uint32_t);
    uint32_t shortest_sleep; /* argument of `sleep` */
    uint64_t loops;          /* loops shared so far */
    uint64_t alone, penalty; /* loops to run alone now, and after the next time that helpers are late */
} team;

/* Order of parts in one thread. kernels/sanitize.py defines others: no result may depend on it. */
#ifndef IN_ORDER
#define IN_ORDER(part, parts) (part)
#endif

static team *current; /* that of the process, while it works */

#if defined(__x86_64__)
#define RELAX() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define RELAX() __asm__ __volatile__("isb")
#else
#define RELAX()
#endif

/* Time in units of the processor; 0 where it cannot be read. */
static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t found;
    __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(found));
    return found;
#else
    return 0;
#endif
}

#define LOAD(where) __atomic_load_n(where, __ATOMIC_ACQUIRE)
#define STORE(where, what) __atomic_store_n(where, what, __ATOMIC_RELEASE)
#define LOAD_LOOSELY(where) __atomic_load_n(where, __ATOMIC_RELAXED)
#define STORE_LOOSELY(where, what) __atomic_store_n(where, what, __ATOMIC_RELAXED)

static inline uint32_t number_of(uint64_t turn) { return (uint32_t)(turn >> 32); }
static inline integer threads_of(uint64_t turn) { return (integer)(turn >> 24 & 255); }
static inline integer most_parts(void) { return ((integer)1 << 24) - 1; }
static inline integer parts_in(uint64_t turn) { return (integer)turn & most_parts(); }

/* Claims a part of a range of the loop in a turn; returns its number, or -1 if none is left. */
static inline integer claim(shared_number *range, uint64_t turn, integer first, integer last)
{
    uint64_t number = number_of(turn), seen = LOAD_LOOSELY(&range->value);
    for (;;) {
        uint64_t known = seen >> 32, taken = known == number ? (uint32_t)seen : 0;
        int is_over = known != number && (uint32_t)(known - number) < 0x80000000u;
        if (is_over || first + (integer)taken >= last)
            return -1;
        if (__atomic_compare_exchange_n(&range->value, &seen, number << 32 | (taken + 1), 0,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return first + (integer)taken;
    }
}

/* Runs all parts that a thread can claim in a turn, those of its own range first. */
static void take_parts(team *of, uint64_t turn, integer own, real *scratch)
{
    integer parts = parts_in(turn), threads = threads_of(turn);
    uint64_t finished = 0;
    part_function *run = LOAD_LOOSELY(&of->run);
    const void *loop = LOAD_LOOSELY(&of->loop);
    for (integer k = 0; k < threads; k++) {
        integer at = (own + k) % threads;
        integer first = parts * at / threads, last = parts * (at + 1) / threads, part;
        while (first < last && (part = claim(of->claimed + at, turn, first, last)) >= 0) {
            run(loop, part, scratch);
            finished++;
        }
    }
    if (finished)
        __atomic_fetch_add(&of->done.value, finished, __ATOMIC_ACQ_REL);
}

/* Waits until all parts are finished, after the leader worked for some ticks; returns whether a helper
   was late. */
static int wait_for_helpers(team *of, integer parts, uint64_t worked)
{
    integer spins = 0;
    uint64_t began = ticks();
    for (; LOAD(&of->done.value) < (uint64_t)parts; spins++) {
        RELAX();
        if (spins > SPINS)
            of->yield();
    }
    return spins > SPINS && ticks() - began >= worked;
}

/* Decides for how many loops the leader stays alone. */
static void judge_helpers(team *of, int late)
{
    if (late) {
        integer doubled = of->penalty ? 2 * of->penalty : FEWEST_ALONE;
        of->alone = of->penalty = doubled < MOST_ALONE ? doubled : MOST_ALONE;
    } else if (of->loops % FEWEST_ALONE == 0)
        of->penalty /= 2;
}

/* Whether this thread may lead the team in a loop with such parts. */
static int may_lead(team *of, integer parts, integer reals)
{
    uint64_t idle = 0;
    if (!of || LOAD_LOOSELY(&of->size) < 2 || parts < 2 || parts > most_parts() || reals > of->reals)
        return 0;
    if (!__atomic_compare_exchange_n(&of->busy.value, &idle, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return 0;
    if (!of->alone)
        return 1;
    of->alone--;
    STORE(&of->busy.value, 0);
    return 0;
}

void share(integer parts, part_function *run, const void *loop, integer reals, real *scratch)
{
    team *of = LOAD_LOOSELY(&current);
    if (!may_lead(of, parts, reals)) {
        for (integer part = 0; part < parts; part++)
            run(loop, IN_ORDER(part, parts), scratch);
        return;
    }
    STORE_LOOSELY(&of->run, run);
    STORE_LOOSELY(&of->loop, loop);
    STORE_LOOSELY(&of->done.value, 0);
    uint64_t number = number_of(LOAD_LOOSELY(&of->turn.value)) + 1;
    uint64_t turn = number << 32 | (uint64_t)LOAD_LOOSELY(&of->size) << 24 | (uint64_t)parts;
    STORE(&of->turn.value, turn);
    uint64_t began = ticks();
    take_parts(of, turn, 0, of->scratch);
    int late = wait_for_helpers(of, parts, ticks() - began);
    STORE_LOOSELY(&of->loops, of->loops + 1);
    judge_helpers(of, late);
    STORE(&of->busy.value, 0);
}

/* Bytes of a team. */
EXPORT integer team_bytes(void) { return (integer)sizeof(team); }

/* Sets up a team in zeroed memory: so many numbers of scratch memory for each thread, and the
   system's functions that let other threads run, and that sleep. */
EXPORT void set_up_team(team *of, real *scratch, integer reals, integer yield, integer sleep,
                        integer shortest_sleep)
{
    of->scratch = scratch;
    of->reals = reals;
    of->yield = (void (*)(void))(uintptr_t)yield;
    of->sleep = (void (*)(uint32_t))(uintptr_t)sleep;
    of->shortest_sleep = (uint32_t)shortest_sleep;
}

/* Starts the work of so many threads of a team; this thread leads. */
EXPORT void lead_team(team *of, integer size)
{
    STORE_LOOSELY(&of->size, size < MAX_TEAM ? size : MAX_TEAM);
    STORE(&of->dismissed.value, 0);
    STORE_LOOSELY(&current, of);
}

/* Ends the work of a team; helpers leave. Returns the number of loops shared since it was set up. */
EXPORT integer dismiss_team(team *of)
{
    STORE_LOOSELY(&current, NULL);
    STORE(&of->dismissed.value, 1);
    return (integer)LOAD_LOOSELY(&of->loops);
}

/* Helps until the team is dismissed; `own` is the number of this thread, from 1. */
EXPORT void help_team(team *of, integer own)
{
    uint64_t known = 0;
    for (integer spins = 0; !LOAD(&of->dismissed.value); spins++) {
        uint64_t turn = LOAD(&of->turn.value);
        if (turn != known && own < threads_of(turn)) {
            take_parts(of, turn, own, of->scratch + own * of->reals);
            known = turn;
            spins = 0;
        }
        RELAX();
        if (spins > SPINS + YIELDS || own >= LOAD_LOOSELY(&of->size))
            of->sleep(of->shortest_sleep);
        else if (spins > SPINS)
            of->yield();
    }
}
