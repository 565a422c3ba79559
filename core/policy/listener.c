/* listener.c - where the gateway listens: an address, or a table with an address and TLS. */
#include "compile.h"

#include <stddef.h>

static const char *const minimum_words[] = {"1.2", "1.3"}; /* enum acog_tls_version */
const struct words tls_minimums = WORDS_IN("a version of TLS", minimum_words);

static const char *const certificate_words[] = {"none", "optional", "required"};
static const struct words client_certificates =
    WORDS_IN("what is asked of clients", certificate_words);

static void read_address(struct reader *reader, int index, void *target)
{
    (void)compile_address(reader, index, target);
}

#define LISTENER(member) offsetof(struct acog_listener, member)

static const struct field listener_fields[] = {
    {.name = "address", .kind = ACOG_FIELD_CUSTOM, .read = read_address},
    {.name = "certificate_file", .kind = ACOG_FIELD_TEXT, .offset = LISTENER(tls.certificate_file)},
    {.name = "key_file", .kind = ACOG_FIELD_TEXT, .offset = LISTENER(tls.key_file)},
    {.name = "client_ca_file", .kind = ACOG_FIELD_TEXT, .offset = LISTENER(tls.client_ca_file)},
    {.name = "client_certificates",
     .kind = ACOG_FIELD_WORD,
     .offset = LISTENER(tls.client_certificates),
     .words = &client_certificates},
    {.name = "minimum",
     .kind = ACOG_FIELD_WORD,
     .offset = LISTENER(tls.minimum),
     .words = &tls_minimums},
};

const struct record listener_record = {"listen", listener_fields, FIELD_COUNT_OF(listener_fields)};

/* Each half of TLS is refused without the other: what was meant to be safe must not be served plainly. */
static bool tls_is_whole(struct reader *reader, const struct acog_tls_rules *tls)
{
    bool asks_clients = tls->client_certificates != ACOG_CLIENT_CERTIFICATES_NONE;
    if ((tls->certificate_file.len > 0) != (tls->key_file.len > 0)) {
        reader_error(reader, "certificate_file and key_file belong together");
        return false;
    }
    if (asks_clients != (tls->client_ca_file.len > 0)) {
        reader_error(reader, "client_ca_file and client_certificates = \"optional\" or "
                             "\"required\" belong together");
        return false;
    }
    if (tls->certificate_file.len == 0 && (asks_clients || tls->minimum != ACOG_TLS_1_2)) {
        reader_error(reader, "needs certificate_file and key_file for TLS");
        return false;
    }
    return true;
}

bool compile_listener(struct reader *reader, int index, struct acog_listener *listener)
{
    if (lua_type(reader->L, index) != LUA_TTABLE) {
        return compile_address(reader, index, listener);
    }
    struct acog_listener read = {.port = 0};
    reader_fields(reader, index, listener_fields, FIELD_COUNT_OF(listener_fields), &read);
    if (read.host.len == 0 && read.unix_socket.len == 0) {
        if (lua_getfield(reader->L, index, "address") == LUA_TNIL) { /* else that was told */
            reader_error(reader, "needs an address: { address = \"HOST:PORT\", … }");
        }
        lua_pop(reader->L, 1);
        return false;
    }
    *listener = read;
    return tls_is_whole(reader, &read.tls);
}

bool listener_is_private(const struct acog_listener *listener)
{
    return listener->unix_socket.len > 0 || acog_view_starts(listener->host, ACOG_VIEW("127.")) ||
           acog_view_equal(listener->host, ACOG_VIEW("::1")) ||
           acog_view_equal(listener->host, ACOG_VIEW("localhost")) ||
           listener->tls.client_certificates == ACOG_CLIENT_CERTIFICATES_REQUIRED;
}
