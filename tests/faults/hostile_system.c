/* A system that refuses: loaded before all other libraries, it lets the n-th call fail that concerns
   files below a folder, or the n-th large piece of memory that is asked for. It can also lack hard
   links, and have a clock that goes back.

   hostile_begin() arms it and hostile_end() disarms it; until then it passes everything on. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { NOTHING, FILES, MEMORY };

#define LEAST_BYTES 32768

static char folder[PATH_MAX];
static int what = NOTHING, error_number, lacks_links;
static long fails_at, seconds_back;
static atomic_long n_calls, n_readings;
static char failed[64];

void hostile_begin(const char *where, int kind, long at, int number) {
    snprintf(folder, sizeof folder, "%s", where);
    fails_at = at;
    error_number = number;
    n_calls = 0;
    failed[0] = 0;
    what = kind;
}

long hostile_end(void) {
    what = NOTHING;
    return n_calls;
}

const char *hostile_failed(void) { return failed; }

void hostile_oddities(int has_no_links, long clock_seconds_back) {
    lacks_links = has_no_links;
    seconds_back = clock_seconds_back;
}

static int is_below(const char *path) { return !strncmp(path, folder, strlen(folder)); }

static int is_file(int file) {
    char name[64], path[PATH_MAX];
    if (what != FILES || file < 0) return 0;
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    long length = syscall(SYS_readlink, name, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_below(path);
}

static int is_named(int where, const char *path) {
    char here[PATH_MAX];
    if (what != FILES || !path) return 0;
    if (*path == '/') return is_below(path);
    if (where != AT_FDCWD) return is_file(where);
    return syscall(SYS_getcwd, here, sizeof here) > 0 && is_below(here);
}

static int fails(const char *name, int is_ours) {
    if (!is_ours || atomic_fetch_add(&n_calls, 1) + 1 != fails_at) return 0;
    snprintf(failed, sizeof failed, "%s", name);
    errno = error_number;
    return 1;
}

#define NEXT(name) \
    static __typeof__(name) *next; \
    if (!next) next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define CALL(type, name, parameters, arguments, is_ours, failure) \
    type name parameters { \
        NEXT(name); \
        if (fails(#name, is_ours)) return failure; \
        return next arguments; \
    }

#define OPEN(name) \
    int name(const char *path, int flags, ...) { \
        NEXT(name); \
        va_list rest; \
        va_start(rest, flags); \
        int mode = va_arg(rest, int); \
        va_end(rest); \
        if (fails(#name, is_named(AT_FDCWD, path))) return -1; \
        return next(path, flags, mode); \
    }

#define OPEN_AT(name) \
    int name(int where, const char *path, int flags, ...) { \
        NEXT(name); \
        va_list rest; \
        va_start(rest, flags); \
        int mode = va_arg(rest, int); \
        va_end(rest); \
        if (fails(#name, is_named(where, path))) return -1; \
        return next(where, path, flags, mode); \
    }

OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)
CALL(ssize_t, read, (int f, void *b, size_t n), (f, b, n), is_file(f), -1)
CALL(ssize_t, pread, (int f, void *b, size_t n, off_t o), (f, b, n, o), is_file(f), -1)
CALL(ssize_t, pread64, (int f, void *b, size_t n, off64_t o), (f, b, n, o), is_file(f), -1)
CALL(ssize_t, write, (int f, const void *b, size_t n), (f, b, n), is_file(f), -1)
CALL(ssize_t, pwrite, (int f, const void *b, size_t n, off_t o), (f, b, n, o), is_file(f), -1)
CALL(ssize_t, pwrite64, (int f, const void *b, size_t n, off64_t o), (f, b, n, o), is_file(f), -1)
CALL(ssize_t, writev, (int f, const struct iovec *v, int n), (f, v, n), is_file(f), -1)
CALL(int, fsync, (int f), (f), is_file(f), -1)
CALL(int, fdatasync, (int f), (f), is_file(f), -1)
CALL(int, ftruncate, (int f, off_t n), (f, n), is_file(f), -1)
CALL(int, ftruncate64, (int f, off64_t n), (f, n), is_file(f), -1)
CALL(int, flock, (int f, int how), (f, how), is_file(f), -1)
CALL(int, fstat, (int f, struct stat *s), (f, s), is_file(f), -1)
CALL(int, fstat64, (int f, struct stat64 *s), (f, s), is_file(f), -1)
CALL(int, stat, (const char *p, struct stat *s), (p, s), is_named(AT_FDCWD, p), -1)
CALL(int, stat64, (const char *p, struct stat64 *s), (p, s), is_named(AT_FDCWD, p), -1)
CALL(int, lstat, (const char *p, struct stat *s), (p, s), is_named(AT_FDCWD, p), -1)
CALL(int, lstat64, (const char *p, struct stat64 *s), (p, s), is_named(AT_FDCWD, p), -1)
CALL(int, fstatat, (int d, const char *p, struct stat *s, int f), (d, p, s, f), is_named(d, p), -1)
CALL(int, fstatat64, (int d, const char *p, struct stat64 *s, int f), (d, p, s, f), is_named(d, p), -1)
CALL(int, access, (const char *p, int how), (p, how), is_named(AT_FDCWD, p), -1)
CALL(int, mkdir, (const char *p, mode_t m), (p, m), is_named(AT_FDCWD, p), -1)
CALL(int, mkdirat, (int d, const char *p, mode_t m), (d, p, m), is_named(d, p), -1)
CALL(int, rmdir, (const char *p), (p), is_named(AT_FDCWD, p), -1)
CALL(int, unlink, (const char *p), (p), is_named(AT_FDCWD, p), -1)
CALL(int, unlinkat, (int d, const char *p, int f), (d, p, f), is_named(d, p), -1)
CALL(int, rename, (const char *p, const char *q), (p, q), is_named(AT_FDCWD, q), -1)
CALL(int, renameat, (int d, const char *p, int e, const char *q), (d, p, e, q), is_named(e, q), -1)
CALL(int, chmod, (const char *p, mode_t m), (p, m), is_named(AT_FDCWD, p), -1)
CALL(int, fchmod, (int f, mode_t m), (f, m), is_file(f), -1)
CALL(DIR *, opendir, (const char *p), (p), is_named(AT_FDCWD, p), NULL)
CALL(DIR *, fdopendir, (int f), (f), is_file(f), NULL)

int link(const char *path, const char *other) {
    NEXT(link);
    if (fails("link", is_named(AT_FDCWD, other))) return -1;
    if (lacks_links) return errno = EPERM, -1;
    return next(path, other);
}

int linkat(int d, const char *path, int e, const char *other, int flags) {
    NEXT(linkat);
    if (fails("linkat", is_named(e, other))) return -1;
    if (lacks_links) return errno = EPERM, -1;
    return next(d, path, e, other, flags);
}

int close(int file) {
    NEXT(close);
    int is_ours = is_file(file), done = next(file);
    return fails("close", is_ours) ? -1 : done;
}

/* Memory: what the C library has for itself need not be found first, which would ask for some. */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);

static int is_large(size_t size) { return what == MEMORY && size >= LEAST_BYTES; }

void *malloc(size_t size) {
    return fails("malloc", is_large(size)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size) {
    return fails("calloc", is_large(n * size)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t size) {
    return fails("realloc", is_large(size)) ? NULL : __libc_realloc(old, size);
}

#define MAP(name, offset) \
    void *name(void *at, size_t n, int protection, int flags, int file, offset o) { \
        NEXT(name); \
        int is_ours = flags & MAP_ANONYMOUS ? is_large(n) : is_file(file); \
        if (fails(#name, is_ours)) return MAP_FAILED; \
        return next(at, n, protection, flags, file, o); \
    }

MAP(mmap, off_t)
MAP(mmap64, off64_t)

/* A clock that goes back with each look at it. */

int clock_gettime(clockid_t clock, struct timespec *found) {
    NEXT(clock_gettime);
    int done = next(clock, found);
    if (!done && clock == CLOCK_REALTIME && seconds_back)
        found->tv_sec -= seconds_back * atomic_fetch_add(&n_readings, 1);
    return done;
}

time_t time(time_t *found) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (found) *found = now.tv_sec;
    return now.tv_sec;
}

int gettimeofday(struct timeval *found, void *zone) {
    struct timespec now;
    (void)zone;
    clock_gettime(CLOCK_REALTIME, &now);
    found->tv_sec = now.tv_sec, found->tv_usec = now.tv_nsec / 1000;
    return 0;
}
