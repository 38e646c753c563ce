/* Stands between a program and the disk (LD_PRELOAD), for files under SHIM_DIR:
   SHIM_LOG      each write, truncation, sync, renaming and removal is noted down there, with its bytes and in order;
   SHIM_KILL_AT  the program is killed just before its n-th such operation;
   SHIM_FULL_AT  the disk is full after so many bytes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long operations, written;
static char counted_for[64];

static int watched(const char *path) {
    const char *dir = getenv("SHIM_DIR");
    return dir && *dir && strncmp(path, dir, strlen(dir)) == 0 && !strstr(path, "-shm");
}

static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, 4095);
    path[size < 0 ? 0 : size] = 0;
    return size > 0 && watched(path);
}

/* Notes the operation; returns -1 if it must fail for want of space. */
static int note(const char *what, const char *path, const char *other, long long offset, size_t size, const void *data) {
    const char *kill_at = getenv("SHIM_KILL_AT"), *full_at = getenv("SHIM_FULL_AT"), *log = getenv("SHIM_LOG");
    pthread_mutex_lock(&lock);
    if (kill_at && strcmp(kill_at, counted_for) != 0) {
        snprintf(counted_for, sizeof counted_for, "%s", kill_at);
        operations = 0;
    }
    if (kill_at && ++operations == atol(kill_at)) raise(SIGKILL);
    int full = full_at && data && written + (long)size > atol(full_at);
    if (data && !full) written += (long)size;
    if (log && !full) {
        int fd = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CREAT, 0600);
        char head[9000];
        int length = snprintf(head, sizeof head, "%s\t%s\t%s\t%lld\t%zu\n", what, path, other, offset, size);
        syscall(SYS_write, fd, head, (size_t)length);
        if (data && size) syscall(SYS_write, fd, data, size);
        syscall(SYS_close, fd);
    }
    pthread_mutex_unlock(&lock);
    return full ? -1 : 0;
}

ssize_t write(int fd, const void *data, size_t size) {
    char path[4096];
    if (path_of(fd, path)) {
        off_t at = (fcntl(fd, F_GETFL) & O_APPEND) ? -1 : lseek(fd, 0, SEEK_CUR);
        if (note("write", path, "", at, size, data)) return errno = ENOSPC, -1;
    }
    return syscall(SYS_write, fd, data, size);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    char path[4096];
    if (path_of(fd, path) && note("write", path, "", offset, size, data)) return errno = ENOSPC, -1;
    return syscall(SYS_pwrite64, fd, data, size, offset);
}
ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) { return pwrite64(fd, data, size, offset); }

int ftruncate64(int fd, off64_t size) {
    char path[4096];
    if (path_of(fd, path)) note("truncate", path, "", size, 0, NULL);
    return (int)syscall(SYS_ftruncate, fd, size);
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int fsync(int fd) {
    char path[4096];
    if (path_of(fd, path)) note("sync", path, "", 0, 0, NULL);
    return (int)syscall(SYS_fsync, fd);
}
int fdatasync(int fd) {
    char path[4096];
    if (path_of(fd, path)) note("sync", path, "", 0, 0, NULL);
    return (int)syscall(SYS_fdatasync, fd);
}

int rename(const char *from, const char *to) {
    if (watched(to)) note("rename", from, to, 0, 0, NULL);
    return (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}
int unlink(const char *path) {
    if (watched(path)) note("unlink", path, "", 0, 0, NULL);
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}
