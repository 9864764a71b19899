/* Calls the functions of a library as they were called when they were recorded, and compares.

       replay LIBRARY CALLS

   CALLS is what replay.py records, and kinds.h the kinds of functions in it; see there. Every byte that a function writes, and what it
   returns, has to be what it was. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#include <windows.h>
#define OPEN(path) ((void *)LoadLibraryA(path))
#define FIND(library, name) ((void *)GetProcAddress((HMODULE)(library), name))
#else
#include <dlfcn.h>
#define OPEN(path) dlopen(path, RTLD_NOW)
#define FIND(library, name) dlsym(library, name)
#endif

typedef int64_t i;
typedef double d;
typedef char *p;

typedef union {
    i integer;
    d real;
    p address;
} value;

#define IS(letters) (strcmp(kind, letters) == 0)

/* Calls a function by the letters of its arguments and, after a dash, of its result. */
static int call(void *f, const char *kind, const value *v, d *result)
{
    *result = 0.0;
#include "kinds.h"
    return 0;
}

static FILE *file;

static i read_integer(void)
{
    i found = 0;
    return fread(&found, sizeof found, 1, file) == 1 ? found : -1;
}

static p read_bytes(i size)
{
    p found = malloc((size_t)size + 1);
    if (fread(found, 1, (size_t)size, file) != (size_t)size)
        exit(fprintf(stderr, "the recording is cut short\n"));
    found[size] = 0;
    return found;
}

/* An address from the number of a buffer, and how many bytes into it. */
static p placed(p *buffers, i told) { return buffers[told >> 40] + (told & (((i)1 << 40) - 1)); }

/* Replays the next call; 1 if it went as recorded. */
static int replay(void *library, i name_size)
{
    p name = read_bytes(name_size), kind = read_bytes(read_integer());
    i arguments = read_integer(), buffers = read_integer();
    value v[16], expected;
    p *before = calloc((size_t)buffers, sizeof(p)), *after = calloc((size_t)buffers, sizeof(p));
    i *sizes = calloc((size_t)buffers, sizeof(i)), *links = calloc((size_t)buffers, sizeof(i));
    i wrong = 0;
    d result;
    for (i k = 0; k < arguments; k++)
        v[k].integer = read_integer();
    expected.integer = read_integer();
    for (i k = 0; k < buffers; k++) {
        sizes[k] = read_integer();
        before[k] = read_bytes(sizes[k]);
        after[k] = read_bytes(sizes[k]);
    }
    for (i k = 0; k < buffers; k++)
        for (links[k] = read_integer(), wrong = 0; wrong < links[k]; wrong++) {
            i offset = read_integer();
            p to = placed(before, read_integer());
            memcpy(before[k] + offset, &to, sizeof(p));
        }
    wrong = 0;
    for (i k = 0; k < arguments; k++)
        if (kind[k] == 'p')
            v[k].address = v[k].integer < 0 ? NULL : placed(before, v[k].integer);
    void *f = FIND(library, name);
    if (!f || !call(f, kind, v, &result))
        exit(fprintf(stderr, "%s (%s) cannot be called\n", name, kind));
    for (i k = 0; k < buffers; k++)
        wrong += !links[k] && memcmp(before[k], after[k], (size_t)sizes[k]) != 0;
    wrong += memcmp(&result, &expected.real, sizeof result) != 0;
    if (wrong)
        fprintf(stderr, "%s differs in %d places\n", name, (int)wrong);
    for (i k = 0; k < buffers; k++) {
        free(before[k]);
        free(after[k]);
    }
    free(before);
    free(after);
    free(sizes);
    free(links);
    free(name);
    free(kind);
    return wrong == 0;
}

int main(int count, char **words)
{
    void *library = count == 3 ? OPEN(words[1]) : NULL;
    file = count == 3 ? fopen(words[2], "rb") : NULL;
    if (!library || !file)
        return fprintf(stderr, "replay LIBRARY CALLS\n"), 2;
    int calls = 0, agreed = 0;
    for (i size = read_integer(); size > 0; size = read_integer(), calls++)
        agreed += replay(library, size);
    printf("%d of %d calls went bit by bit as recorded\n", agreed, calls);
    return agreed == calls && calls ? 0 : 1;
}
