/* options.c - the words after `acog serve`. */
#include "acog/gateway.h"

#include <string.h>

enum option {
    ACOG_OPTION_LISTEN = 0,
    ACOG_OPTION_ADMIN,
    ACOG_OPTION_WORKERS,
    ACOG_OPTION_LOG,
    ACOG_OPTION_LOG_LEVEL,
    ACOG_OPTION_UNKNOWN,
};

static enum option find_option(const char *word)
{
    static const char *const names[] = {"--listen", "--admin", "--workers", "--log", "--log-level"};
    for (int i = 0; i < ACOG_OPTION_UNKNOWN; i++) {
        if (strcmp(word, names[i]) == 0) {
            return (enum option)i;
        }
    }
    return ACOG_OPTION_UNKNOWN;
}

static enum acog_code read_workers(struct acog_view value, uint32_t *workers,
                                   struct acog_error *error)
{
    unsigned long long number = 0;
    if (!acog_view_to_u64(value, &number) || number < 1 || number > ACOG_WORKERS_MAX) {
        return acog_error_set(error, ACOG_INVALID, "--workers: \"%.*s\"; allowed: 1 to %d",
                              ACOG_VIEW_FMT(value), ACOG_WORKERS_MAX);
    }
    *workers = (uint32_t)number;
    return ACOG_OK;
}

static enum acog_code read_level(struct acog_view value, enum acog_log_level *level,
                                 struct acog_error *error)
{
    if (!acog_log_level_find(value, level)) {
        return acog_error_set(error, ACOG_INVALID,
                              "--log-level: \"%.*s\"; allowed: debug, info, warning, error",
                              ACOG_VIEW_FMT(value));
    }
    return ACOG_OK;
}

static enum acog_code read_option(const char *word, const char *value,
                                  struct acog_serve_options *options, struct acog_error *error)
{
    switch (find_option(word)) {
    case ACOG_OPTION_LISTEN:
        options->has_listen = true;
        return acog_listener_read(acog_view_of(value), &options->listen, error);
    case ACOG_OPTION_ADMIN:
        options->has_admin = true;
        return acog_listener_read(acog_view_of(value), &options->admin, error);
    case ACOG_OPTION_WORKERS:
        return read_workers(acog_view_of(value), &options->workers, error);
    case ACOG_OPTION_LOG:
        options->log_path = value;
        return ACOG_OK;
    case ACOG_OPTION_LOG_LEVEL:
        return read_level(acog_view_of(value), &options->log_level, error);
    case ACOG_OPTION_UNKNOWN:
        break;
    }
    return acog_error_set(error, ACOG_INVALID,
                          "unknown option %s; allowed: --listen, --admin, --workers, --log, "
                          "--log-level",
                          word);
}

enum acog_code acog_serve_options_read(int count, char *const *words,
                                       struct acog_serve_options *options, struct acog_error *error)
{
    *options = (struct acog_serve_options){.log_level = ACOG_LOG_INFO};
    for (int i = 0; i < count; i++) {
        if (strncmp(words[i], "--", 2) != 0) {
            if (options->path != NULL) {
                return acog_error_set(error, ACOG_INVALID, "one configuration only: %s and %s",
                                      options->path, words[i]);
            }
            options->path = words[i];
            continue;
        }
        if (find_option(words[i]) != ACOG_OPTION_UNKNOWN && i + 1 == count) {
            return acog_error_set(error, ACOG_INVALID, "%s wants a value", words[i]);
        }
        const char *value = i + 1 < count ? words[i + 1] : "";
        enum acog_code code = read_option(words[i], value, options, error);
        if (code != ACOG_OK) {
            return code;
        }
        i++;
    }
    if (options->path == NULL) {
        return acog_error_set(error, ACOG_INVALID, "which configuration? acog serve FILE");
    }
    return ACOG_OK;
}
