/* trust.h - whom a TLS connection believes: one store of certificates for all workers, and one for each `ca_file`. */
#ifndef ACOG_CORE_UPSTREAM_TRUST_H
#define ACOG_CORE_UPSTREAM_TRUST_H

#include "acog/error.h"
#include "acog/view.h"

#include <openssl/types.h>

void acog_trust_init(void);
void acog_trust_fini(void);

/* The store for a CA file, or the system's for an empty path: loaded at its first use (and again when the file has
 * changed), shared afterwards. The caller gets a reference: X509_STORE_free(). NULL with `error` filled in.
 * Safe from any thread. */
X509_STORE *acog_trust_store(struct acog_view ca_file, struct acog_error *error);

#endif
