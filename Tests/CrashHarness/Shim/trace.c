// Preloaded into a process, writes down in order what reaches the files below one directory: opens,
// writes with their data, flushes, sizes and names; and what is written to standard output.
// It always holds: a record stands in the trace only after its call returned, its two numbers say
// when the call began and ended, and files are identified by asking the system, not by memory.
//
// Environment:
//   HINDSIGHT_TRACE_FILE       where the records go; made anew
//   HINDSIGHT_TRACE_DIRECTORY  the real path of the directory whose files (and itself) are traced
//   HINDSIGHT_TRACE_CLOCK      optional: a file that holds the clock of several processes, whose
//                              traces then have numbers in one order
//   HINDSIGHT_TRACE_SWALLOW    comma-separated: "sync" makes flushes return success without doing or
//                              recording anything; "dsync" takes O_DSYNC and its like from all calls
//
// All calls go to the kernel directly, so that nothing depends on which symbols the C library has.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
  KIND_OPEN = 1, KIND_WRITE, KIND_SYNC, KIND_DATA_SYNC, KIND_MAP_SYNC, KIND_RANGE_SYNC,
  KIND_TRUNCATE, KIND_ALLOCATE, KIND_RENAME, KIND_UNLINK, KIND_MAKE_DIRECTORY, KIND_MAP_WRITABLE,
};

enum { WRITES_THROUGH = 1 };  // The call itself returns only when the data is on the disk.

struct record {
  uint32_t magic, kind;
  uint64_t begin, end;
  int64_t offset;
  uint64_t length;
  int64_t result;
  uint64_t inode;
  int32_t descriptor, error;
  uint32_t flags, thread;
  uint32_t path_size, data_size;
};

static const uint32_t record_magic = 0x31545348;  // "HST1"
static int trace = -1;
static char directory[PATH_MAX];
static size_t directory_size;
static int swallows_syncs, swallows_write_through;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t own_clock = 1;
static _Atomic uint64_t *clock_count = &own_clock;

static void fail(const char *what) {
  fprintf(stderr, "trace: %s: %s\n", what, strerror(errno));
  abort();
}

// Takes the clock from a file. It begins with zeros, where nobody has used it.
static void share_clock(const char *file) {
  int descriptor = syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0 || syscall(SYS_ftruncate, descriptor, sizeof *clock_count)) fail(file);
  // The last argument goes over the stack, where an `int` would leave half of it undefined.
  void *memory = (void *)syscall(
    SYS_mmap, NULL, sizeof *clock_count, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0L);
  if (memory == MAP_FAILED) fail(file);
  clock_count = memory;
  syscall(SYS_close, descriptor);
}

__attribute__((constructor)) static void start(void) {
  const char *file = getenv("HINDSIGHT_TRACE_FILE");
  const char *traced = getenv("HINDSIGHT_TRACE_DIRECTORY");
  const char *swallowed = getenv("HINDSIGHT_TRACE_SWALLOW");
  if (!file || !traced) return;
  directory_size = strlen(traced);
  if (directory_size >= sizeof directory) fail("HINDSIGHT_TRACE_DIRECTORY is too long");
  memcpy(directory, traced, directory_size + 1);
  for (const char *word = swallowed; word && *word;) {
    size_t size = strcspn(word, ",");
    if (size == 4 && !strncmp(word, "sync", size)) swallows_syncs = 1;
    if (size == 5 && !strncmp(word, "dsync", size)) swallows_write_through = 1;
    word += size + (word[size] == ',');
  }
  const char *clock_file = getenv("HINDSIGHT_TRACE_CLOCK");
  if (clock_file && *clock_file) share_clock(clock_file);
  trace = syscall(
    SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (trace < 0) fail(file);
}

static uint64_t now(void) { return atomic_fetch_add(clock_count, 1); }

static int is_below_directory(const char *path) {
  return !strncmp(path, directory, directory_size)
    && (path[directory_size] == 0 || path[directory_size] == '/');
}

// The path of a descriptor, as the kernel knows it; 0 where it isn't traced.
static int path_of(int descriptor, char path[PATH_MAX]) {
  if (trace < 0 || descriptor < 0) return 0;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t size = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  if (size <= 0) return 0;
  path[size] = 0;
  return descriptor == 1 || is_below_directory(path);
}

// The full path of a name that is about to be changed; 0 where it isn't traced.
static int path_of_name(int at, const char *name, char path[PATH_MAX]) {
  path[0] = 0;
  if (trace < 0) return 0;
  char base[PATH_MAX] = "";
  if (name[0] != '/') {
    char link[64];
    if (at == AT_FDCWD) strcpy(link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", at);
    ssize_t size = syscall(SYS_readlinkat, AT_FDCWD, link, base, PATH_MAX - 2);
    if (size <= 0) return 0;
    base[size] = '/';
    base[size + 1] = 0;
  }
  if ((size_t)snprintf(path, PATH_MAX, "%s%s", base, name) >= PATH_MAX) return 0;
  return is_below_directory(path);
}

// Appends a record with as many bytes of the data as the call took.
static void append(
  struct record *record, const char *path, const struct iovec *data, int data_count, size_t taken
) {
  record->magic = record_magic;
  record->thread = (uint32_t)syscall(SYS_gettid);
  record->path_size = (uint32_t)strlen(path);
  record->data_size = (uint32_t)taken;
  struct iovec parts[2 + IOV_MAX];
  int count = 2;
  for (int part = 0; part < data_count && taken; part++) {
    size_t size = data[part].iov_len < taken ? data[part].iov_len : taken;
    parts[count++] = (struct iovec){data[part].iov_base, size};
    taken -= size;
  }
  parts[0] = (struct iovec){record, sizeof *record};
  parts[1] = (struct iovec){(void *)path, record->path_size};
  pthread_mutex_lock(&lock);
  record->end = now();
  for (int first = 0; first < count;) {
    int some = count - first < IOV_MAX ? count - first : IOV_MAX;
    ssize_t size = syscall(SYS_writev, trace, parts + first, some);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail("writing the trace");
    while (first < count && (size_t)size >= parts[first].iov_len) {
      size -= parts[first++].iov_len;
    }
    if (first < count) {
      parts[first].iov_base = (char *)parts[first].iov_base + size;
      parts[first].iov_len -= size;
    }
  }
  pthread_mutex_unlock(&lock);
}

// Fills in what the system knows of a descriptor.
static void describe(struct record *record, int descriptor) {
  struct stat information;
  record->descriptor = descriptor;
  if (fstat(descriptor, &information) == 0) record->inode = information.st_ino;
  long flags = syscall(SYS_fcntl, descriptor, F_GETFL, 0);
  // O_SYNC has the bit of O_DSYNC in it.
  if (flags >= 0 && flags & O_DSYNC) record->flags |= WRITES_THROUGH;
}

// Writes a record of a call on a descriptor, if that is traced, and keeps `errno`.
static long finish(
  enum kind kind, uint64_t begin, int descriptor, int64_t offset, uint64_t length, long result
) {
  int error = errno;
  char path[PATH_MAX];
  if (path_of(descriptor, path)) {
    struct record record = {
      .kind = kind, .begin = begin, .offset = offset, .length = length, .result = result,
      .error = result < 0 ? error : 0};
    describe(&record, descriptor);
    append(&record, path, NULL, 0, 0);
  }
  errno = error;
  return result;
}

// Opening.

static int open_at(int at, const char *name, int flags, mode_t mode) {
  uint64_t begin = now();
  if (swallows_write_through) flags &= ~(O_DSYNC | O_SYNC);
  long descriptor = syscall(SYS_openat, at, name, flags, mode);
  return (int)finish(KIND_OPEN, begin, (int)descriptor, 0, (uint64_t)flags, descriptor);
}

static mode_t mode_argument(int flags, va_list arguments) {
  return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(function)                                     \
  int function(const char *name, int flags, ...) {         \
    va_list arguments;                                     \
    va_start(arguments, flags);                            \
    mode_t mode = mode_argument(flags, arguments);         \
    va_end(arguments);                                     \
    return open_at(AT_FDCWD, name, flags, mode);           \
  }
#define OPEN_AT(function)                                  \
  int function(int at, const char *name, int flags, ...) { \
    va_list arguments;                                     \
    va_start(arguments, flags);                            \
    mode_t mode = mode_argument(flags, arguments);         \
    va_end(arguments);                                     \
    return open_at(at, name, flags, mode);                 \
  }
OPEN(open)
OPEN(open64)
OPEN_AT(openat)
OPEN_AT(openat64)
int creat(const char *name, mode_t mode) {
  return open_at(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
int creat64(const char *name, mode_t mode) { return creat(name, mode); }

// Writing.

static ssize_t record_write(
  uint64_t begin, int descriptor, const struct iovec *data, int count, int64_t offset,
  int call_flags, ssize_t result
) {
  int error = errno;
  char path[PATH_MAX];
  if (path_of(descriptor, path)) {
    struct record record = {
      .kind = KIND_WRITE, .begin = begin, .offset = offset, .result = result,
      .error = result < 0 ? error : 0};
    if (offset < 0) {
      int64_t position = syscall(SYS_lseek, descriptor, 0, SEEK_CUR);
      record.offset = position < 0 ? 0 : position - (result > 0 ? result : 0);
    }
    for (int part = 0; part < count; part++) record.length += data[part].iov_len;
    describe(&record, descriptor);
    if (call_flags & (RWF_DSYNC | RWF_SYNC)) record.flags |= WRITES_THROUGH;
    append(&record, path, data, count, result > 0 ? (size_t)result : 0);
  }
  errno = error;
  return result;
}

ssize_t write(int descriptor, const void *bytes, size_t size) {
  struct iovec data = {(void *)bytes, size};
  uint64_t begin = now();
  ssize_t result = syscall(SYS_write, descriptor, bytes, size);
  return record_write(begin, descriptor, &data, 1, -1, 0, result);
}

ssize_t writev(int descriptor, const struct iovec *data, int count) {
  uint64_t begin = now();
  ssize_t result = syscall(SYS_writev, descriptor, data, count);
  return record_write(begin, descriptor, data, count, -1, 0, result);
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
  struct iovec data = {(void *)bytes, size};
  uint64_t begin = now();
  ssize_t result = syscall(SYS_pwrite64, descriptor, bytes, size, offset);
  return record_write(begin, descriptor, &data, 1, offset, 0, result);
}

ssize_t pwritev2(int descriptor, const struct iovec *data, int count, off_t offset, int flags) {
  uint64_t begin = now();
  if (swallows_write_through) flags &= ~(RWF_DSYNC | RWF_SYNC);
  ssize_t result = syscall(SYS_pwritev2, descriptor, data, count, offset, 0, flags);
  return record_write(begin, descriptor, data, count, offset, flags, result);
}

ssize_t pwritev(int descriptor, const struct iovec *data, int count, off_t offset) {
  return pwritev2(descriptor, data, count, offset, 0);
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t offset) {
  return pwrite(descriptor, bytes, size, offset);
}
ssize_t pwritev64(int descriptor, const struct iovec *data, int count, off64_t offset) {
  return pwritev2(descriptor, data, count, offset, 0);
}
ssize_t pwritev64v2(int descriptor, const struct iovec *data, int count, off64_t offset, int flags) {
  return pwritev2(descriptor, data, count, offset, flags);
}

// Flushing.

int fsync(int descriptor) {
  if (swallows_syncs) return 0;
  uint64_t begin = now();
  return finish(KIND_SYNC, begin, descriptor, 0, 0, syscall(SYS_fsync, descriptor));
}

int fdatasync(int descriptor) {
  if (swallows_syncs) return 0;
  uint64_t begin = now();
  return finish(KIND_DATA_SYNC, begin, descriptor, 0, 0, syscall(SYS_fdatasync, descriptor));
}

int sync_file_range(int descriptor, off64_t offset, off64_t size, unsigned flags) {
  if (swallows_syncs) return 0;
  uint64_t begin = now();
  long result = syscall(SYS_sync_file_range, descriptor, offset, size, flags);
  return finish(KIND_RANGE_SYNC, begin, descriptor, offset, size, result);
}

// Which file the memory belongs to isn't known here: the record says where and how much.
int msync(void *address, size_t size, int flags) {
  if (swallows_syncs) return 0;
  uint64_t begin = now();
  long result = syscall(SYS_msync, address, size, flags);
  int error = errno;
  if (trace >= 0) {
    struct record record = {
      .kind = KIND_MAP_SYNC, .begin = begin, .offset = (int64_t)(intptr_t)address,
      .length = size, .result = result, .descriptor = -1, .error = result < 0 ? error : 0};
    append(&record, "", NULL, 0, 0);
  }
  errno = error;
  return (int)result;
}

void *mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  uint64_t begin = now();
  long result = syscall(SYS_mmap, address, size, protection, flags, descriptor, offset);
  if (protection & PROT_WRITE && flags & MAP_SHARED) {
    finish(KIND_MAP_WRITABLE, begin, descriptor, offset, size, result);
  }
  return (void *)result;
}
void *mmap64(
  void *address, size_t size, int protection, int flags, int descriptor, off64_t offset
) {
  return mmap(address, size, protection, flags, descriptor, offset);
}

// Sizes.

int ftruncate(int descriptor, off_t size) {
  uint64_t begin = now();
  long result = syscall(SYS_ftruncate, descriptor, size);
  return finish(KIND_TRUNCATE, begin, descriptor, 0, size, result);
}
int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

int truncate(const char *name, off_t size) {
  int descriptor = open_at(AT_FDCWD, name, O_WRONLY | O_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  int result = ftruncate(descriptor, size);
  int error = errno;
  close(descriptor);
  errno = error;
  return result;
}
int truncate64(const char *name, off64_t size) { return truncate(name, size); }

int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  uint64_t begin = now();
  long result = syscall(SYS_fallocate, descriptor, mode, offset, size);
  // What only sets space aside changes nothing that is ever read.
  if (mode == FALLOC_FL_KEEP_SIZE) return (int)result;
  return finish(KIND_ALLOCATE, begin, descriptor, offset, size, result);
}
int fallocate64(int descriptor, int mode, off64_t offset, off64_t size) {
  return fallocate(descriptor, mode, offset, size);
}

// Without the C library's substitute, whose writes couldn't be seen.
int posix_fallocate(int descriptor, off_t offset, off_t size) {
  int error = errno;
  int number = fallocate(descriptor, 0, offset, size) == 0 ? 0 : errno;
  errno = error;
  return number;
}
int posix_fallocate64(int descriptor, off64_t offset, off64_t size) {
  return posix_fallocate(descriptor, offset, size);
}

// Names. A rename's new path is its record's data.

static int finish_name(enum kind kind, uint64_t begin, const char *path, char *data, long result) {
  int error = errno;
  struct record record = {
    .kind = kind, .begin = begin, .result = result, .descriptor = -1,
    .error = result < 0 ? error : 0};
  struct iovec part = {data, data ? strlen(data) : 0};
  append(&record, path, &part, data ? 1 : 0, part.iov_len);
  errno = error;
  return (int)result;
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
  uint64_t begin = now();
  char path[PATH_MAX], target[PATH_MAX];
  int is_traced = path_of_name(from_at, from, path) | path_of_name(to_at, to, target);
  long result = syscall(SYS_renameat2, from_at, from, to_at, to, flags);
  return is_traced ? finish_name(KIND_RENAME, begin, path, target, result) : (int)result;
}
int renameat(int from_at, const char *from, int to_at, const char *to) {
  return renameat2(from_at, from, to_at, to, 0);
}
int rename(const char *from, const char *to) {
  return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int unlinkat(int at, const char *name, int flags) {
  uint64_t begin = now();
  char path[PATH_MAX];
  int is_traced = path_of_name(at, name, path);
  long result = syscall(SYS_unlinkat, at, name, flags);
  return is_traced ? finish_name(KIND_UNLINK, begin, path, NULL, result) : (int)result;
}
int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

int mkdirat(int at, const char *name, mode_t mode) {
  uint64_t begin = now();
  char path[PATH_MAX];
  int is_traced = path_of_name(at, name, path);
  long result = syscall(SYS_mkdirat, at, name, mode);
  return is_traced ? finish_name(KIND_MAKE_DIRECTORY, begin, path, NULL, result) : (int)result;
}
int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }
