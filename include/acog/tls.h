/* tls.h - what a configuration says about TLS, in the words that core/http and core/upstream understand. */
#ifndef ACOG_TLS_H
#define ACOG_TLS_H

#include "acog/view.h"

/* The oldest version that is spoken. Nothing before 1.2 is. */
enum acog_tls_version {
    ACOG_TLS_1_2 = 0,
    ACOG_TLS_1_3,
};

enum acog_client_certificates {
    ACOG_CLIENT_CERTIFICATES_NONE = 0,
    ACOG_CLIENT_CERTIFICATES_OPTIONAL, /* one that is shown must be good */
    ACOG_CLIENT_CERTIFICATES_REQUIRED,
};

/* Of a listener. */
struct acog_tls_rules {
    struct acog_view certificate_file; /* PEM, with the chain behind it; empty: no TLS */
    struct acog_view key_file;         /* PEM, without a password */
    struct acog_view client_ca_file;   /* PEM; empty with client certificates NONE */
    enum acog_client_certificates client_certificates;
    enum acog_tls_version minimum;
};

#endif
