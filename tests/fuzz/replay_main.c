/* replay_main.c - a main for a fuzz target without a fuzzer: replays the given files and the files in the given folders.
 *
 * Each input is copied to memory of just its size, so that AddressSanitizer sees a read behind its end.
 */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define FILE_BYTES_MAX ((size_t)1 << 20U)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* False: it is no readable file. */
static bool replay_file(const char *path)
{
    static uint8_t bytes[FILE_BYTES_MAX];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    bool good = ferror(file) == 0;
    (void)fclose(file);
    uint8_t *copy = good ? malloc(size == 0 ? 1 : size) : NULL;
    if (copy == NULL) {
        return false;
    }
    for (size_t i = 0; i < size; i++) {
        copy[i] = bytes[i];
    }
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
    return true;
}

/* Returns how many inputs were replayed. */
static size_t replay(const char *path)
{
    DIR *folder = opendir(path);
    size_t count = 0;
    if (folder == NULL) {
        return replay_file(path) ? 1 : 0;
    }
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char name[1024];
        if (entry->d_name[0] != '.' &&
            snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) < (int)sizeof(name)) {
            count += replay_file(name) ? 1 : 0;
        }
    }
    (void)closedir(folder);
    return count;
}

int main(int argc, char **argv)
{
    size_t count = 0;
    for (int i = 1; i < argc; i++) {
        size_t replayed = replay(argv[i]);
        if (replayed == 0) {
            (void)fprintf(stderr, "nothing to replay in %s\n", argv[i]);
            return 1;
        }
        count += replayed;
    }
    (void)printf("replayed %zu inputs\n", count);
    return count > 0 ? 0 : 1;
}
