/* grade.h - one row of errors.tsv beside what was read; errors_test.c says what stands in a row. */
#ifndef ACOG_TESTS_DATA_GRADE_H
#define ACOG_TESTS_DATA_GRADE_H

#include "acog/failure.h"

#include <stdbool.h>
#include <stddef.h>

#define KEY_BYTES_MAX 160

/* An error as it was read. */
struct found {
    const char *key;
    struct acog_failure failure;
    bool failed;           /* false: an answer, and no failure at all */
    const char *suggested; /* a class; NULL: nobody did */
};

/* Reads the table and loads the two policies. `print`: rows are printed, not compared. */
void grade_begin(const char *table_path, bool print);
void grade_end(void);

void grade(const struct found *found);

/* The row "reset VALUE": what acog_dialect_reset_ms() makes of a reset value; DATE, or NULL, is when it was sent, and
 * part of the key where the value is a moment. */
void grade_reset(const char *value, const char *date);

/* Rows that nothing asked for are wrong too. Prints the counts; returns how much was wrong. */
size_t grade_sum_up(void);

#endif
