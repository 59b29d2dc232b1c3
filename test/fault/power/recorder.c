/*
 * Records what a process does to the files below one folder: loaded with LD_PRELOAD, it stands before the calls of
 * the C library that change or sync files, and appends a record of each that succeeded to a log, in their order.
 *
 *   RECORD_BELOW  the folder, an absolute path without links
 *   RECORD_TO     the log, outside of it
 *   RECORD_KILL   kills the process after that many records of its own; unset or 0: never
 *
 * A record is one line, its fields separated by tabs; the last field is the number of bytes that follow the line. Files
 * are named by their inode number, which the record "open" connects with a path. Writes through a mapping are not
 * recorded: the store writes its data file with calls only, and nothing depends on the content of its lock file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILES_MAX 65536
#define REAL(name) ((__typeof__(&name))real(#name))

static pthread_mutex_t turn = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static char below[PATH_MAX];
static int log_file = -1;
static long kill_after, records;
/* The inode of each open file below the folder; 0 for the others. */
static ino_t inodes[FILES_MAX];

static void *real(const char *name) {
  void *function = dlsym(RTLD_NEXT, name);
  if (function == NULL) abort();
  return function;
}

__attribute__((constructor)) static void begin(void) {
  const char *folder = getenv("RECORD_BELOW"), *log = getenv("RECORD_TO"), *limit = getenv("RECORD_KILL");
  if (folder == NULL || log == NULL) return;
  snprintf(below, sizeof below, "%s/", folder);
  kill_after = limit == NULL ? 0 : atol(limit);
  log_file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log_file < 0) abort();
}

/* A record is written whole, with one call: the file is opened for appending, and others may append to it, too. */
static void note(const void *data, size_t length, const char *format, ...) {
  char line[3 * PATH_MAX];
  va_list fields;
  va_start(fields, format);
  int size = vsnprintf(line, sizeof line - 32, format, fields);
  va_end(fields);
  size += sprintf(line + size, "\t%zu\n", length);
  struct iovec parts[] = {{line, size}, {(void *)data, length}};
  if (syscall(SYS_writev, log_file, parts, length == 0 ? 1 : 2) != (long)(size + length)) abort();
  if (++records == kill_after) kill(getpid(), SIGKILL);
}

/* The absolute path, or NULL where it is not below the folder. */
static const char *place(int folder, const char *path, char *buffer) {
  if (log_file < 0 || path == NULL) return NULL;
  if (path[0] == '/') snprintf(buffer, PATH_MAX, "%s", path);
  else {
    char link[64], base[PATH_MAX];
    if (folder == AT_FDCWD) strcpy(link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t length = readlink(link, base, sizeof base - 1);
    if (length < 0) return NULL;
    base[length] = 0;
    if (snprintf(buffer, PATH_MAX, "%s/%s", base, path) >= PATH_MAX) return NULL;
  }
  size_t length = strlen(below) - 1;
  return strncmp(buffer, below, length) == 0 && (buffer[length] == '/' || buffer[length] == 0) ? buffer : NULL;
}

/* The inode of an open file below the folder, else 0. A number may have been closed and given to something else. */
static ino_t inode_of(int file) {
  struct stat status;
  if (file < 0 || file >= FILES_MAX || inodes[file] == 0 || fstat(file, &status) != 0) return 0;
  return status.st_ino == inodes[file] ? status.st_ino : 0;
}

static int open_file(int folder, const char *path, int flags, mode_t mode) {
  char buffer[PATH_MAX];
  struct stat status;
  pthread_mutex_lock(&turn);
  int file = syscall(SYS_openat, folder, path, flags, mode);
  int error = errno;
  const char *where = file >= 0 && file < FILES_MAX ? place(folder, path, buffer) : NULL;
  if (file >= 0 && file < FILES_MAX) inodes[file] = 0;
  if (where != NULL && !(flags & O_PATH) && fstat(file, &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) {
    inodes[file] = status.st_ino;
    note(NULL, 0, "open\t%s\t%lu\t%s", where, (unsigned long)status.st_ino, S_ISDIR(status.st_mode) ? "folder" : "file");
    if (flags & O_TRUNC) note(NULL, 0, "truncate\t%lu\t0", (unsigned long)status.st_ino);
  }
  pthread_mutex_unlock(&turn);
  errno = error;
  return file;
}

#define MODE(last) ({ mode_t mode = 0; if (flags & (O_CREAT | __O_TMPFILE)) { va_list rest; va_start(rest, last); mode = va_arg(rest, mode_t); va_end(rest); } mode; })
int open(const char *path, int flags, ...) { return open_file(AT_FDCWD, path, flags, MODE(flags)); }
int open64(const char *path, int flags, ...) { return open_file(AT_FDCWD, path, flags, MODE(flags)); }
int openat(int folder, const char *path, int flags, ...) { return open_file(folder, path, flags, MODE(flags)); }
int openat64(int folder, const char *path, int flags, ...) { return open_file(folder, path, flags, MODE(flags)); }

static void note_write(ino_t inode, int file, const void *data, ssize_t length, off_t offset) {
  int synced = fcntl(file, F_GETFL) & O_DSYNC;
  note(data, length, "write\t%lu\t%lld\t%d", (unsigned long)inode, (long long)offset, synced ? 1 : 0);
}

/* Runs a call that writes to a file, and records what it wrote: `bytes` finds them, `position` is -1 where the call
 * moved the file's own. */
#define WRITES(file, call, bytes, position)                                                        \
  pthread_mutex_lock(&turn);                                                                       \
  ssize_t count = call;                                                                            \
  int error = errno;                                                                               \
  ino_t inode = count > 0 ? inode_of(file) : 0;                                                    \
  if (inode != 0) {                                                                                \
    off_t offset = (position) >= 0 ? (position) : lseek(file, 0, SEEK_CUR) - count;                \
    void *copy = bytes;                                                                            \
    note_write(inode, file, copy, count, offset);                                                  \
    free(copy);                                                                                    \
  }                                                                                                \
  pthread_mutex_unlock(&turn);                                                                     \
  errno = error;                                                                                   \
  return count

static void *copied(const void *data, size_t length) {
  return memcpy(malloc(length), data, length);
}

static void *gathered(const struct iovec *parts, int number, size_t length) {
  char *all = malloc(length);
  size_t done = 0;
  for (int i = 0; i < number && done < length; i++) {
    size_t size = parts[i].iov_len < length - done ? parts[i].iov_len : length - done;
    memcpy(all + done, parts[i].iov_base, size);
    done += size;
  }
  return all;
}

/* What the kernel copied into a file is read back from it. */
static void *read_back(int file, size_t length, off_t offset) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  int again = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  char *all = malloc(length);
  if (again < 0 || pread(again, all, length, offset) != (ssize_t)length) abort();
  syscall(SYS_close, again);
  return all;
}

ssize_t write(int file, const void *data, size_t length) {
  WRITES(file, REAL(write)(file, data, length), copied(data, count), -1);
}
ssize_t pwrite(int file, const void *data, size_t length, off_t at) {
  WRITES(file, REAL(pwrite)(file, data, length, at), copied(data, count), at);
}
ssize_t pwrite64(int file, const void *data, size_t length, off_t at) {
  WRITES(file, REAL(pwrite64)(file, data, length, at), copied(data, count), at);
}
ssize_t writev(int file, const struct iovec *parts, int number) {
  WRITES(file, REAL(writev)(file, parts, number), gathered(parts, number, count), -1);
}
ssize_t pwritev(int file, const struct iovec *parts, int number, off_t at) {
  WRITES(file, REAL(pwritev)(file, parts, number, at), gathered(parts, number, count), at);
}
ssize_t pwritev64(int file, const struct iovec *parts, int number, off_t at) {
  WRITES(file, REAL(pwritev64)(file, parts, number, at), gathered(parts, number, count), at);
}
ssize_t sendfile(int to, int from, off_t *at, size_t length) {
  WRITES(to, REAL(sendfile)(to, from, at, length), read_back(to, count, offset), -1);
}
ssize_t sendfile64(int to, int from, off_t *at, size_t length) {
  WRITES(to, REAL(sendfile64)(to, from, at, length), read_back(to, count, offset), -1);
}
static ssize_t copy_range(int from, off_t *from_at, int to, off_t *to_at, size_t length, unsigned flags) {
  WRITES(to, REAL(syscall)(SYS_copy_file_range, from, from_at, to, to_at, length, flags), read_back(to, count, offset),
         to_at == NULL ? -1 : *to_at - count);
}
ssize_t copy_file_range(int from, off_t *from_at, int to, off_t *to_at, size_t length, unsigned flags) {
  return copy_range(from, from_at, to, to_at, length, flags);
}

/* Node's library calls this one by its number. */
long syscall(long number, ...) {
  long a[6];
  va_list rest;
  va_start(rest, number);
  for (int i = 0; i < 6; i++) a[i] = va_arg(rest, long);
  va_end(rest);
  if (number == SYS_copy_file_range) return copy_range(a[0], (off_t *)a[1], a[2], (off_t *)a[3], a[4], a[5]);
  return REAL(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Runs a call and, where it succeeded, records it. */
#define NOTED(call, condition, ...)                                                                \
  pthread_mutex_lock(&turn);                                                                       \
  int result = call;                                                                               \
  int error = errno;                                                                               \
  if (result == 0 && (condition)) note(NULL, 0, __VA_ARGS__);                                      \
  pthread_mutex_unlock(&turn);                                                                     \
  errno = error;                                                                                   \
  return result

static int truncated(int file, off_t size) {
  NOTED(REAL(ftruncate64)(file, size), inode_of(file) != 0, "truncate\t%lu\t%lld", (unsigned long)inode_of(file), (long long)size);
}
int ftruncate(int file, off_t size) { return truncated(file, size); }
int ftruncate64(int file, off_t size) { return truncated(file, size); }
int fsync(int file) {
  NOTED(REAL(fsync)(file), inode_of(file) != 0, "sync\t%lu", (unsigned long)inode_of(file));
}
int fdatasync(int file) {
  NOTED(REAL(fdatasync)(file), inode_of(file) != 0, "sync\t%lu", (unsigned long)inode_of(file));
}

static int made(int folder, const char *path, mode_t mode) {
  char buffer[PATH_MAX];
  NOTED(syscall(SYS_mkdirat, folder, path, mode), place(folder, path, buffer), "mkdir\t%s", buffer);
}
int mkdir(const char *path, mode_t mode) { return made(AT_FDCWD, path, mode); }
int mkdirat(int folder, const char *path, mode_t mode) { return made(folder, path, mode); }

static int removed(int folder, const char *path, int flags) {
  char buffer[PATH_MAX];
  NOTED(syscall(SYS_unlinkat, folder, path, flags), place(folder, path, buffer), "remove\t%s", buffer);
}
int unlink(const char *path) { return removed(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return removed(AT_FDCWD, path, AT_REMOVEDIR); }
int unlinkat(int folder, const char *path, int flags) { return removed(folder, path, flags); }

static int renamed(int folder, const char *path, int to_folder, const char *to, unsigned flags) {
  char from_buffer[PATH_MAX], to_buffer[PATH_MAX];
  NOTED(syscall(SYS_renameat2, folder, path, to_folder, to, flags),
        place(folder, path, from_buffer) && place(to_folder, to, to_buffer), "rename\t%s\t%s", from_buffer, to_buffer);
}
int rename(const char *path, const char *to) { return renamed(AT_FDCWD, path, AT_FDCWD, to, 0); }
int renameat(int folder, const char *path, int to_folder, const char *to) { return renamed(folder, path, to_folder, to, 0); }

static int linked(int folder, const char *path, int to_folder, const char *to, int flags) {
  char from_buffer[PATH_MAX], to_buffer[PATH_MAX];
  NOTED(syscall(SYS_linkat, folder, path, to_folder, to, flags),
        place(folder, path, from_buffer) && place(to_folder, to, to_buffer), "link\t%s\t%s", from_buffer, to_buffer);
}
int link(const char *path, const char *to) { return linked(AT_FDCWD, path, AT_FDCWD, to, 0); }
int linkat(int folder, const char *path, int to_folder, const char *to, int flags) { return linked(folder, path, to_folder, to, flags); }
