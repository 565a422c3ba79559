/* simulated.h - a connection whose provider is played inside the gateway, on real timers. */
#ifndef ACOG_CORE_UPSTREAM_SIMULATED_H
#define ACOG_CORE_UPSTREAM_SIMULATED_H

#include <stdbool.h>

struct acog_simulation;
struct acog_upstream_call;

/* Plays for `call`, and tells it from the loop. NULL without memory. */
struct acog_simulation *acog_simulation_new(struct acog_upstream_call *call);
void acog_simulation_free(struct acog_simulation **simulation);

/* While paused nothing is told; what fell due in the meantime is told afterwards, at once. */
void acog_simulation_pause(struct acog_simulation *simulation, bool paused);

/* Process-wide, with acog_upstream_global_init(): forgets how often each connection was asked. */
void acog_simulation_forget(void);

#endif
