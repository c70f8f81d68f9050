/*
 * A disk that forgets and fails, by LD_PRELOAD.
 *
 * DISK_WATCH   the data directory, an absolute path without a slash at its end.
 * DISK_SHADOW  a directory that is given only what was synced: what a power cut would leave. Not set: none.
 * DISK_EARLY   the number of writes of 100 that reach the shadow unsynced, some cut at a sector: a disk may
 *              write early and in any order. 0 unless set.
 * DISK_FAULT   a file that names what fails while it exists: `sync` (EIO), `full` (ENOSPC on writes).
 *
 * A file is known by the path of its descriptor. Renames and removals reach the shadow at once; a file that
 * is renamed unsynced has no content there.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define SECTOR 512
#define MOST_FILES 64

struct range { off_t from, to; };
struct file { char path[PATH_MAX]; struct range *ranges; size_t count, room; };

static struct file files[MOST_FILES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const char *watch, *shadow, *fault;
static unsigned chance, early;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwritev)(int, const struct iovec *, int, off_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_unlink)(const char *);
static int (*real_rename)(const char *, const char *);

__attribute__((constructor)) static void begin(void) {
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_writev = dlsym(RTLD_NEXT, "writev");
  real_pwritev = dlsym(RTLD_NEXT, "pwritev64");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_unlink = dlsym(RTLD_NEXT, "unlink");
  real_rename = dlsym(RTLD_NEXT, "rename");
  watch = getenv("DISK_WATCH");
  shadow = getenv("DISK_SHADOW");
  fault = getenv("DISK_FAULT");
  early = getenv("DISK_EARLY") ? (unsigned)atoi(getenv("DISK_EARLY")) : 0;
  chance = (unsigned)getpid();
}

/* Whether the path lies in the data directory; its part below that. */
static const char *below(const char *path) {
  size_t length = watch ? strlen(watch) : 0;
  return length > 0 && strncmp(path, watch, length) == 0 && path[length] == '/' ? path + length : NULL;
}

static int watched(int fd, char *path) {
  char link[64];
  if (watch == NULL) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return below(path) != NULL || strcmp(path, watch) == 0;
}

static int failing(const char *what) {
  char text[16] = "";
  int fd = fault ? open(fault, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0) return 0;
  ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  return length > 0 && strncmp(text, what, strlen(what)) == 0;
}

static void shadow_path(char *to, const char *path) {
  snprintf(to, PATH_MAX, "%s%s", shadow, below(path));
}

static struct file *file_of(const char *path) {
  struct file *empty = NULL;
  for (int i = 0; i < MOST_FILES; i++) {
    if (strcmp(files[i].path, path) == 0) return &files[i];
    if (files[i].path[0] == 0 && empty == NULL) empty = &files[i];
  }
  if (empty == NULL) abort();
  strcpy(empty->path, path);
  empty->count = 0;
  return empty;
}

static void forget(const char *path) {
  struct file *file = file_of(path);
  file->path[0] = 0;
  file->count = 0;
}

static void copy_range(int from, int to, struct range range) {
  char block[65536];
  while (range.from < range.to) {
    size_t want = range.to - range.from < (off_t)sizeof block ? (size_t)(range.to - range.from) : sizeof block;
    ssize_t got = pread64(from, block, want, range.from);
    if (got <= 0) return;
    real_pwrite(to, block, (size_t)got, range.from);
    range.from += got;
  }
}

/* Opens a descriptor of its own to read from: the server's may be for writing only. */
static void into_shadow(const char *path, struct range *ranges, size_t count, int whole) {
  char target[PATH_MAX];
  shadow_path(target, path);
  int from = open(path, O_RDONLY | O_CLOEXEC), to = open(target, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  struct stat now;
  for (size_t i = 0; from >= 0 && to >= 0 && i < count; i++) copy_range(from, to, ranges[i]);
  if (whole && from >= 0 && to >= 0 && fstat(from, &now) == 0) real_ftruncate(to, now.st_size);
  if (from >= 0) close(from);
  if (to >= 0) close(to);
}

static void note(const char *path, off_t from, ssize_t length) {
  if (shadow == NULL || length <= 0 || below(path) == NULL) return;
  pthread_mutex_lock(&lock);
  struct file *file = file_of(path);
  struct range range = { from, from + length };
  if (file->count > 0 && file->ranges[file->count - 1].to == from) file->ranges[file->count - 1].to = range.to;
  else {
    if (file->count == file->room) {
      file->room = file->room ? file->room * 2 : 64;
      file->ranges = realloc(file->ranges, file->room * sizeof range);
    }
    file->ranges[file->count++] = range;
  }
  if ((unsigned)rand_r(&chance) % 100 < early) {
    off_t sectors = length / SECTOR;
    if (sectors > 0 && rand_r(&chance) % 2) range.to = from + SECTOR * (rand_r(&chance) % (sectors + 1));
    into_shadow(path, &range, 1, 0);
  }
  pthread_mutex_unlock(&lock);
}

static void keep(const char *path) {
  if (shadow == NULL || below(path) == NULL) return;
  pthread_mutex_lock(&lock);
  struct file *file = file_of(path);
  into_shadow(path, file->ranges, file->count, 1);
  file->count = 0;
  pthread_mutex_unlock(&lock);
}

static int refused(int is_watched, const char *what, int code) {
  if (!is_watched || !failing(what)) return 0;
  errno = code;
  return 1;
}

ssize_t pwrite64(int fd, const void *data, size_t length, off_t at) {
  char path[PATH_MAX];
  int mine = watched(fd, path);
  if (refused(mine, "full", ENOSPC)) return -1;
  ssize_t done = real_pwrite(fd, data, length, at);
  if (mine) note(path, at, done);
  return done;
}

ssize_t pwrite(int fd, const void *data, size_t length, off_t at) { return pwrite64(fd, data, length, at); }

ssize_t write(int fd, const void *data, size_t length) {
  char path[PATH_MAX];
  int mine = watched(fd, path);
  if (refused(mine, "full", ENOSPC)) return -1;
  ssize_t done = real_write(fd, data, length);
  if (mine && done > 0) note(path, lseek(fd, 0, SEEK_CUR) - done, done);
  return done;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  char path[PATH_MAX];
  int mine = watched(fd, path);
  if (refused(mine, "full", ENOSPC)) return -1;
  ssize_t done = real_writev(fd, parts, count);
  if (mine && done > 0) note(path, lseek(fd, 0, SEEK_CUR) - done, done);
  return done;
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t at) {
  char path[PATH_MAX];
  int mine = watched(fd, path);
  if (refused(mine, "full", ENOSPC)) return -1;
  ssize_t done = real_pwritev(fd, parts, count, at);
  if (mine) note(path, at, done);
  return done;
}

int fsync(int fd) {
  char path[PATH_MAX];
  int mine = watched(fd, path);
  if (refused(mine, "sync", EIO)) return -1;
  int code = real_fsync(fd);
  if (mine && code == 0) keep(path);
  return code;
}

int fdatasync(int fd) {
  char path[PATH_MAX];
  int mine = watched(fd, path);
  if (refused(mine, "sync", EIO)) return -1;
  int code = real_fdatasync(fd);
  if (mine && code == 0) keep(path);
  return code;
}

int unlink(const char *path) {
  int code = real_unlink(path);
  if (code == 0 && shadow != NULL && below(path) != NULL) {
    char target[PATH_MAX];
    pthread_mutex_lock(&lock);
    forget(path);
    shadow_path(target, path);
    real_unlink(target);
    pthread_mutex_unlock(&lock);
  }
  return code;
}

int rename(const char *from, const char *to) {
  int code = real_rename(from, to);
  if (code == 0 && shadow != NULL && below(from) != NULL && below(to) != NULL) {
    char source[PATH_MAX], target[PATH_MAX];
    pthread_mutex_lock(&lock);
    shadow_path(source, from);
    shadow_path(target, to);
    forget(from);
    forget(to);
    if (real_rename(source, target) != 0) close(open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    pthread_mutex_unlock(&lock);
  }
  return code;
}
