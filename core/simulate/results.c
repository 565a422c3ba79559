/* results.c - pieces of reports. */
#include "results.h"

#include "acog/buffer.h"
#include "acog/contract.h"
#include "acog/utf8.h"

#define TEXT_BYTES_MAX ((size_t)16 * 1024 * 1024)

static const char *word(enum acog_test_outcome outcome)
{
    switch (outcome) {
    case ACOG_TEST_PASSED:
        return "passed";
    case ACOG_TEST_FAILED:
        return "failed";
    case ACOG_TEST_BROKEN:
        return "error";
    }
    ACOG_UNREACHABLE("unknown acog_test_outcome");
}

static void print_json_text(FILE *out, const char *before, struct acog_view text)
{
    struct acog_buffer json;
    acog_buffer_init(&json, TEXT_BYTES_MAX);
    (void)!acog_buffer_append_json(&json, text);
    (void)fprintf(out, "%s\"%.*s\"", before, ACOG_VIEW_FMT(acog_buffer_view(&json)));
    acog_buffer_fini(&json);
}

void acog_results_json(FILE *out, const struct acog_test_result *result)
{
    print_json_text(out, "{\"file\":", acog_view_of(result->file));
    if (result->name != NULL) {
        print_json_text(out, ",\"name\":", acog_view_of(result->name));
    }
    (void)fprintf(out, ",\"outcome\":\"%s\"", word(result->outcome));
    if (result->outcome != ACOG_TEST_PASSED) {
        print_json_text(out, ",\"why\":", result->why);
    }
    if (result->attached.len > 0) {
        (void)fprintf(out, ",\"attached\":{%.*s}", ACOG_VIEW_FMT(result->attached));
    }
    (void)fprintf(out, "}\n");
}

/* What XML 1.0 has no place for becomes "?". */
static void put_xml(FILE *out, struct acog_view text)
{
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        switch (byte) {
        case '&':
            (void)fputs("&amp;", out);
            break;
        case '<':
            (void)fputs("&lt;", out);
            break;
        case '>':
            (void)fputs("&gt;", out);
            break;
        case '"':
            (void)fputs("&quot;", out);
            break;
        default:
            (void)fputc((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f ? '?' : byte,
                        out);
        }
    }
}

/* A test may fail with any bytes; XML is UTF-8. */
void acog_results_xml_text(FILE *out, struct acog_view text)
{
    while (text.len > 0) {
        size_t bytes = acog_utf8_length(text);
        put_xml(out, bytes == 0 ? ACOG_VIEW("?") : acog_view_slice(text, 0, bytes));
        text = acog_view_slice(text, bytes == 0 ? 1 : bytes, text.len);
    }
}

void acog_results_junit(FILE *out, const struct acog_test_result *result)
{
    struct acog_view name = acog_view_of(result->name != NULL ? result->name : "the whole file");
    const char *tag = result->outcome == ACOG_TEST_BROKEN ? "error" : "failure";
    (void)fputs("    <testcase classname=\"", out);
    acog_results_xml_text(out, acog_view_of(result->file));
    (void)fputs("\" name=\"", out);
    acog_results_xml_text(out, name);
    if (result->outcome == ACOG_TEST_PASSED) {
        (void)fputs("\"/>\n", out);
        return;
    }
    size_t first_line = acog_view_find(result->why, ACOG_VIEW("\n"));
    (void)fprintf(out, "\">\n      <%s message=\"", tag);
    acog_results_xml_text(out, acog_view_slice(result->why, 0, first_line));
    (void)fputs("\">", out);
    acog_results_xml_text(out, result->why);
    (void)fprintf(out, "</%s>\n    </testcase>\n", tag);
}
