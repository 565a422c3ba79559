/* explain_command.c - the command line of `acog explain`. */
#include "acog/arena.h"
#include "acog/buffer.h"
#include "acog/simulate.h"
#include "files.h"

#include <ctype.h>
#include <string.h>

#define HEADERS_MAX     100
#define ARENA_BYTES_MAX ((size_t)1024 * 1024)
#define BODY_BYTES_MAX  ((size_t)32 * 1024 * 1024)

static const char usage[] =
    "usage: acog explain FILE --model MODEL [--surface NAME] [--header 'NAME: VALUE']...\n"
    "                    [--stream] [--body FILE] [--json]\n"
    "\n"
    "Says where a request would go under the configuration FILE, and why. Nothing is sent.\n"
    "  --model MODEL      the model that is asked for\n"
    "  --surface NAME     chat, messages, responses, count_tokens or embeddings; else chat for a body,\n"
    "                     and for a model the first API that its connection speaks itself\n"
    "  --header H         a header of the client; as often as needed\n"
    "  --stream           the answer is to be streamed\n"
    "  --body FILE        the whole body, instead of --model and --stream\n"
    "  --json             the decision record as JSON\n"
    "Exit: 0 there is a candidate, 1 there is none, 2 the configuration cannot be loaded.\n";

struct arguments {
    struct acog_explain_options options;
    struct acog_arena arena;
    struct acog_buffer body;
    struct acog_header_row headers[HEADERS_MAX];
};

/* False: it is not of the form "name: value", or there are too many. */
static bool add_header(struct arguments *arguments, const char *text)
{
    struct acog_view line = acog_view_of(text);
    size_t colon = acog_view_find(line, ACOG_VIEW(":"));
    size_t count = arguments->options.header_count;
    char *name = acog_arena_take(&arguments->arena, colon + 1);
    if (colon == 0 || colon == line.len || count == HEADERS_MAX || name == NULL) {
        return false;
    }
    for (size_t i = 0; i < colon; i++) {
        name[i] = (char)tolower((unsigned char)text[i]);
    }
    arguments->headers[count] = (struct acog_header_row){
        .name = {.ptr = name, .len = colon},
        .value = acog_view_trim(acog_view_slice(line, colon + 1, line.len)),
    };
    arguments->options.header_count++;
    return true;
}

static bool read_body(struct arguments *arguments, const char *path)
{
    struct acog_error error;
    arguments->body.len = 0;
    if (acog_files_read(path, &arguments->body, &error) != ACOG_OK) {
        (void)fprintf(arguments->options.errors, "acog explain: %s\n", error.text);
        return false;
    }
    arguments->options.body =
        arguments->body.len == 0 ? ACOG_VIEW("") : acog_buffer_view(&arguments->body);
    return true;
}

/* An option with a value. False: it cannot be so. */
static bool take_option(struct arguments *arguments, const char *name, const char *value)
{
    if (strcmp(name, "--model") == 0) {
        arguments->options.model = acog_view_of(value);
        return true;
    }
    if (strcmp(name, "--surface") == 0) {
        int surface = acog_name_find(ACOG_VOCABULARY_SURFACE, acog_view_of(value));
        arguments->options.surface = surface < 0 ? ACOG_SURFACE_CHAT : (enum acog_surface)surface;
        arguments->options.any_surface = false;
        return surface >= 0;
    }
    if (strcmp(name, "--header") == 0) {
        return add_header(arguments, value);
    }
    return strcmp(name, "--body") == 0 && read_body(arguments, value);
}

static bool is_option_with_value(const char *name)
{
    return strcmp(name, "--model") == 0 || strcmp(name, "--surface") == 0 ||
           strcmp(name, "--header") == 0 || strcmp(name, "--body") == 0;
}

/* Takes one or two arguments; 0: what is wrong has been said. */
static int take_argument(struct arguments *arguments, const char *argument, const char *value)
{
    FILE *errors = arguments->options.errors;
    if (strcmp(argument, "--json") == 0) {
        arguments->options.json = true;
        return 1;
    }
    if (strcmp(argument, "--stream") == 0) {
        arguments->options.stream = true;
        return 1;
    }
    if (is_option_with_value(argument)) {
        if (value != NULL && take_option(arguments, argument, value)) {
            return 2;
        }
        (void)fprintf(errors, "acog explain: %s cannot be %s\n%s", argument,
                      value == NULL ? "without a value" : value, usage);
        return 0;
    }
    if (strncmp(argument, "--", 2) == 0 || arguments->options.path != NULL) {
        (void)fprintf(errors, "acog explain: what is %s?\n%s", argument, usage);
        return 0;
    }
    arguments->options.path = argument;
    return 1;
}

static enum acog_simulate_exit run(struct arguments *arguments, int argc, char *const *argv)
{
    for (int at = 1; at < argc;) {
        if (strcmp(argv[at], "--help") == 0) {
            (void)fprintf(arguments->options.out, "%s", usage);
            return ACOG_EXIT_FINE;
        }
        int taken = take_argument(arguments, argv[at], at + 1 < argc ? argv[at + 1] : NULL);
        if (taken == 0) {
            return ACOG_EXIT_ERROR;
        }
        at += taken;
    }
    const struct acog_explain_options *options = &arguments->options;
    if (options->path == NULL || (options->model.len == 0 && options->body.ptr == NULL)) {
        (void)fprintf(options->errors, "acog explain: which configuration, and which model?\n%s",
                      usage);
        return ACOG_EXIT_ERROR;
    }
    return acog_simulate_explain(options);
}

enum acog_simulate_exit acog_simulate_explain_command(int argc, char *const *argv, FILE *out,
                                                      FILE *errors)
{
    struct arguments arguments = {.options = {.any_surface = true, .out = out, .errors = errors}};
    arguments.options.headers = arguments.headers;
    acog_arena_init(&arguments.arena, ARENA_BYTES_MAX);
    acog_buffer_init(&arguments.body, BODY_BYTES_MAX);
    enum acog_simulate_exit result = run(&arguments, argc, argv);
    acog_buffer_fini(&arguments.body);
    acog_arena_fini(&arguments.arena);
    return result;
}
