// Preloaded into a process, makes one kind of its system calls on a store's files fail, the N-th or
// all from then on; and keeps beside them what a disk would have of the files after a power cut.
// It always holds: a copy has exactly what was flushed with success; what a failed flush should
// have written is in no copy until it is written and flushed again, as in Linux's page cache.
//
// Environment:
//   HINDSIGHT_FAIL_DIRECTORY  the real path of the directory whose files are meant
//   HINDSIGHT_FAIL_DURABLE    a directory for the copies; beside each, a list of unflushed pages,
//                             and a file with a byte for each time that such pages were lost
//   HINDSIGHT_FAIL_CALL       KIND:NUMBER:COUNT:ERROR: from call NUMBER (1, 2, …) of the kind on,
//                             COUNT calls fail with an errno; further words for ERROR are "short",
//                             half of the bytes only, and "late", done and then said to be EIO
//   HINDSIGHT_FAIL_FILE       only calls on files whose path has this in it
//   HINDSIGHT_FAIL_REPORT     a file that gets a line for each failed call
//
// Of a call that writes through (O_DSYNC), the bytes reach the page cache where it fails.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, SHORT = -1, LATE = -2, DESCRIPTORS = 1024 };

static char directory[PATH_MAX], durable[PATH_MAX], kind[32], only_file[256];
static size_t directory_size;
static long first_number, fail_count;
static int failure, report = -1;
static atomic_long call_count;
// Of how many losses each descriptor was told.
static _Atomic int64_t told_count[DESCRIPTORS];
static uintptr_t library_start, library_end;

static void die(const char *what) {
  fprintf(stderr, "fail: %s: %s\n", what, strerror(errno));
  abort();
}

static int find_library(struct dl_phdr_info *information, size_t size, void *unused) {
  (void)size, (void)unused;
  if (!strstr(information->dlpi_name, "liblmdb")) return 0;
  for (int part = 0; part < information->dlpi_phnum; part++) {
    const ElfW(Phdr) *header = &information->dlpi_phdr[part];
    if (header->p_type != PT_LOAD || !(header->p_flags & PF_X)) continue;
    library_start = information->dlpi_addr + header->p_vaddr;
    library_end = library_start + header->p_memsz;
  }
  return 1;
}

static void copy_variable(const char *name, char *target, size_t size) {
  const char *value = getenv(name);
  if (value && (size_t)snprintf(target, size, "%s", value) >= size) die(name);
}

__attribute__((constructor)) static void start(void) {
  char call[128] = "", word[32] = "", file[PATH_MAX] = "";
  copy_variable("HINDSIGHT_FAIL_DURABLE", durable, sizeof durable);
  copy_variable("HINDSIGHT_FAIL_FILE", only_file, sizeof only_file);
  copy_variable("HINDSIGHT_FAIL_REPORT", file, sizeof file);
  copy_variable("HINDSIGHT_FAIL_CALL", call, sizeof call);
  copy_variable("HINDSIGHT_FAIL_DIRECTORY", directory, sizeof directory);
  directory_size = strlen(directory);
  if (!directory_size) return;
  dl_iterate_phdr(find_library, NULL);
  if (!call[0]) return;
  errno = EINVAL;
  if (sscanf(call, "%31[a-z]:%ld:%ld:%31s", kind, &first_number, &fail_count, word) != 4) die(call);
  failure = !strcmp(word, "short") ? SHORT : !strcmp(word, "late") ? LATE : atoi(word);
  if (!failure || (!strcmp(kind, "memory") && !library_start)) die(call);
  report = syscall(
    SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (report < 0) die(file);
}

// Which calls are meant.

static int is_below_directory(const char *path) {
  return directory_size && !strncmp(path, directory, directory_size)
    && (path[directory_size] == 0 || path[directory_size] == '/');
}

// The path of a descriptor, as the kernel knows it; 0 where it isn't one of the store's.
static int path_of(int descriptor, char path[PATH_MAX]) {
  if (!directory_size || descriptor < 0) return 0;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t size = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  if (size <= 0) return 0;
  path[size] = 0;
  return is_below_directory(path);
}

// How a call on a path is to fail; 0 where it isn't.
static int fails(const char *this_kind, const char *path) {
  if (report < 0 || strcmp(kind, this_kind)) return 0;
  if (only_file[0] && !strstr(path, only_file)) return 0;
  long number = atomic_fetch_add(&call_count, 1) + 1;
  if (number < first_number || number - first_number >= fail_count) return 0;
  char line[PATH_MAX + 64];
  int size = snprintf(line, sizeof line, "%s %ld %s\n", kind, number, path);
  syscall(SYS_write, report, line, size);
  return failure;
}

static int fails_on(const char *this_kind, int descriptor) {
  int error = errno;
  char path[PATH_MAX];
  int result = path_of(descriptor, path) ? fails(this_kind, path) : 0;
  errno = error;
  return result;
}

static int refuse(int number) {
  errno = number < 0 ? EIO : number;
  return -1;
}

// What is on the disk. A file's list of unflushed pages has a byte for each, not zero where it is
// one; its lock is held for each step, as two processes may be at it.

static int lock_pages(const char *path, char copy[PATH_MAX + 8]) {
  if (!durable[0] || strstr(path, "-lock")) return -1;
  const char *name = strrchr(path, '/') + 1;
  char list[PATH_MAX + 16];
  snprintf(copy, PATH_MAX + 8, "%s/%s", durable, name);
  snprintf(list, sizeof list, "%s.pages", copy);
  int pages = syscall(SYS_openat, AT_FDCWD, list, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (pages < 0) die(list);
  while (syscall(SYS_flock, pages, LOCK_EX) < 0) if (errno != EINTR) die(list);
  return pages;
}

static void mark(int descriptor, int64_t offset, size_t size) {
  char path[PATH_MAX], copy[PATH_MAX + 8];
  if (!size || !path_of(descriptor, path)) return;
  int pages = lock_pages(path, copy);
  if (pages < 0) return;
  for (int64_t page = offset / PAGE; page <= (offset + (int64_t)size - 1) / PAGE; page++) {
    if (syscall(SYS_pwrite64, pages, "x", 1, page) != 1) die(copy);
  }
  syscall(SYS_close, pages);
}

static int open_copy(const char *copy, const char *suffix, int flags) {
  char name[PATH_MAX + 16];
  snprintf(name, sizeof name, "%s%s", copy, suffix);
  int descriptor = syscall(SYS_openat, AT_FDCWD, name, flags | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) die(name);
  return descriptor;
}

static void copy_page(int from, int to, int64_t page) {
  char bytes[PAGE];
  ssize_t count = syscall(SYS_pread64, from, bytes, PAGE, page * PAGE);
  if (count < 0 || syscall(SYS_pwrite64, to, bytes, count, page * PAGE) != count) die("copying");
}

// Copies unflushed pages in a range, or only takes them from the list: they are lost.
static void settle(int descriptor, int64_t offset, int64_t size, int is_written) {
  char path[PATH_MAX], copy[PATH_MAX + 8];
  struct stat file, copied;
  if (!path_of(descriptor, path)) return;
  if (fstat(descriptor, &file) || !S_ISREG(file.st_mode)) return;
  int pages = lock_pages(path, copy);
  if (pages < 0) return;
  int from = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  int to = open_copy(copy, "", O_RDWR);
  if (from < 0) die(path);
  int is_any_lost = 0;
  for (int64_t page = offset / PAGE; page * PAGE < offset + size; page++) {
    char is_unflushed = 0;
    if (syscall(SYS_pread64, pages, &is_unflushed, 1, page) != 1) break;
    if (!is_unflushed) continue;
    if (syscall(SYS_pwrite64, pages, "", 1, page) != 1) die(copy);
    if (is_written) copy_page(from, to, page);
    else is_any_lost = 1;
  }
  if (is_written && !fstat(to, &copied) && copied.st_size < file.st_size) {
    if (syscall(SYS_ftruncate, to, file.st_size)) die(copy);
  }
  if (is_any_lost) {
    int losses = open_copy(copy, ".losses", O_WRONLY | O_APPEND);
    if (syscall(SYS_write, losses, "x", 1) != 1) die(copy);
    syscall(SYS_close, losses);
  }
  syscall(SYS_close, from);
  syscall(SYS_close, to);
  syscall(SYS_close, pages);
}

// Whether pages were lost since the descriptor was opened or told of it; it counts as told then.
static int is_to_be_told(int descriptor) {
  char path[PATH_MAX], copy[PATH_MAX + 8];
  struct stat losses = {0};
  if (descriptor >= DESCRIPTORS || !path_of(descriptor, path)) return 0;
  int pages = lock_pages(path, copy);
  if (pages < 0) return 0;
  int file = open_copy(copy, ".losses", O_RDONLY);
  fstat(file, &losses);
  syscall(SYS_close, file);
  syscall(SYS_close, pages);
  return atomic_exchange(&told_count[descriptor], losses.st_size) < losses.st_size;
}

// Writing.

static ssize_t write_parts(
  int descriptor, const struct iovec *data, int count, int64_t offset, int has_offset
) {
  int how = fails_on("write", descriptor);
  long flags = syscall(SYS_fcntl, descriptor, F_GETFL, 0);
  int writes_through = flags >= 0 && flags & O_DSYNC;
  if (how > 0 && !(writes_through && how != EINTR)) return refuse(how);
  if (!has_offset) offset = syscall(SYS_lseek, descriptor, 0, SEEK_CUR);
  struct iovec half = {data[0].iov_base, data[0].iov_len / 2};
  if (how == SHORT) {
    data = &half;
    count = 1;
  }
  ssize_t result = has_offset
    ? syscall(SYS_pwritev, descriptor, data, count, offset, 0)
    : syscall(SYS_writev, descriptor, data, count);
  int error = errno;
  if (result > 0) mark(descriptor, offset, result);
  if (result > 0 && writes_through) settle(descriptor, offset, result, how <= 0);
  if (result > 0 && writes_through && is_to_be_told(descriptor) && how == 0) how = EIO;
  errno = error;
  return how > 0 || how == LATE ? refuse(how) : result;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset) {
  struct iovec data = {(void *)bytes, size};
  return write_parts(descriptor, &data, 1, offset, 1);
}
ssize_t pwrite64(int descriptor, const void *bytes, size_t size, off64_t offset) {
  return pwrite(descriptor, bytes, size, offset);
}
ssize_t pwritev(int descriptor, const struct iovec *data, int count, off_t offset) {
  return write_parts(descriptor, data, count, offset, 1);
}
ssize_t pwritev64(int descriptor, const struct iovec *data, int count, off64_t offset) {
  return write_parts(descriptor, data, count, offset, 1);
}
ssize_t writev(int descriptor, const struct iovec *data, int count) {
  char path[PATH_MAX];
  if (!path_of(descriptor, path)) return syscall(SYS_writev, descriptor, data, count);
  return write_parts(descriptor, data, count, 0, 0);
}
ssize_t write(int descriptor, const void *bytes, size_t size) {
  char path[PATH_MAX];
  if (!path_of(descriptor, path)) return syscall(SYS_write, descriptor, bytes, size);
  struct iovec data = {(void *)bytes, size};
  return write_parts(descriptor, &data, 1, 0, 0);
}

// Flushing.

static int flush(int descriptor, long call) {
  int how = fails_on("sync", descriptor);
  if (how == EINTR) return refuse(how);
  long result = syscall(call, descriptor);
  int error = errno;
  settle(descriptor, 0, INT64_MAX / 2, result == 0 && (how == 0 || how == LATE));
  if (is_to_be_told(descriptor) && how == 0) how = EIO;
  errno = error;
  return how ? refuse(how) : (int)result;
}
int fsync(int descriptor) { return flush(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return flush(descriptor, SYS_fdatasync); }

// All else.

ssize_t pread(int descriptor, void *bytes, size_t size, off_t offset) {
  int how = fails_on("read", descriptor);
  if (how > 0) return refuse(how);
  return syscall(SYS_pread64, descriptor, bytes, how ? size / 2 : size, offset);
}
ssize_t pread64(int descriptor, void *bytes, size_t size, off64_t offset) {
  return pread(descriptor, bytes, size, offset);
}

static int open_at(int at, const char *name, int flags, mode_t mode) {
  int how = is_below_directory(name) ? fails("open", name) : 0;
  if (how) return refuse(how);
  int descriptor = syscall(SYS_openat, at, name, flags, mode);
  int error = errno;
  if (descriptor >= 0 && flags & (O_WRONLY | O_RDWR)) is_to_be_told(descriptor);
  errno = error;
  return descriptor;
}
static mode_t mode_argument(int flags, va_list arguments) {
  return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}
#define OPEN(function, parameter, at)                      \
  int function(parameter const char *name, int flags, ...) { \
    va_list arguments;                                     \
    va_start(arguments, flags);                            \
    mode_t mode = mode_argument(flags, arguments);         \
    va_end(arguments);                                     \
    return open_at(at, name, flags, mode);                 \
  }
#define DIRECTORY int directory_descriptor,
#define NOTHING
OPEN(open, NOTHING, AT_FDCWD)
OPEN(open64, NOTHING, AT_FDCWD)
OPEN(openat, DIRECTORY, directory_descriptor)
OPEN(openat64, DIRECTORY, directory_descriptor)

static int control(int descriptor, int command, void *argument) {
  int takes_lock = command == F_SETLK || command == F_SETLKW;
  int how = takes_lock ? fails_on("lock", descriptor) : 0;
  return how ? refuse(how) : (int)syscall(SYS_fcntl, descriptor, command, argument);
}
#define CONTROL(function)                                  \
  int function(int descriptor, int command, ...) {         \
    va_list arguments;                                     \
    va_start(arguments, command);                          \
    void *argument = va_arg(arguments, void *);            \
    va_end(arguments);                                     \
    return control(descriptor, command, argument);         \
  }
CONTROL(fcntl)
CONTROL(fcntl64)

off_t lseek(int descriptor, off_t offset, int whence) {
  int how = fails_on("seek", descriptor);
  return how ? refuse(how) : syscall(SYS_lseek, descriptor, offset, whence);
}
off64_t lseek64(int descriptor, off64_t offset, int whence) {
  return lseek(descriptor, offset, whence);
}

int ftruncate(int descriptor, off_t size) {
  int how = fails_on("truncate", descriptor);
  return how ? refuse(how) : (int)syscall(SYS_ftruncate, descriptor, size);
}
int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

int fallocate(int descriptor, int mode, off_t offset, off_t size) {
  int how = fails_on("allocate", descriptor);
  return how ? refuse(how) : (int)syscall(SYS_fallocate, descriptor, mode, offset, size);
}
int fallocate64(int descriptor, int mode, off64_t offset, off64_t size) {
  return fallocate(descriptor, mode, offset, size);
}
int posix_fallocate(int descriptor, off_t offset, off_t size) {
  int error = errno;
  int number = fallocate(descriptor, 0, offset, size) == 0 ? 0 : errno;
  errno = error;
  return number;
}
int posix_fallocate64(int descriptor, off64_t offset, off64_t size) {
  return posix_fallocate(descriptor, offset, size);
}

void *mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  int how = fails_on("map", descriptor);
  if (how) return (void *)(intptr_t)refuse(how);
  return (void *)syscall(SYS_mmap, address, size, protection, flags, descriptor, offset);
}
void *mmap64(
  void *address, size_t size, int protection, int flags, int descriptor, off64_t offset
) {
  return mmap(address, size, protection, flags, descriptor, offset);
}

int msync(void *address, size_t size, int flags) {
  int how = directory_size ? fails("sync", "a map") : 0;
  return how ? refuse(how) : (int)syscall(SYS_msync, address, size, flags);
}

int mkdir(const char *name, mode_t mode) {
  int how = is_below_directory(name) ? fails("name", name) : 0;
  return how ? refuse(how) : (int)syscall(SYS_mkdirat, AT_FDCWD, name, mode);
}

// A name that is gone is gone from the disk, too: whoever removes one has to bear that.
int unlink(const char *name) {
  int how = is_below_directory(name) ? fails("name", name) : 0;
  if (how) return refuse(how);
  char copy[PATH_MAX + 8];
  int pages = is_below_directory(name) ? lock_pages(name, copy) : -1;
  long result = syscall(SYS_unlinkat, AT_FDCWD, name, 0);
  int error = errno;
  if (pages >= 0) {
    if (result == 0 && (syscall(SYS_ftruncate, pages, 0))) die(copy);
    if (result == 0) syscall(SYS_unlinkat, AT_FDCWD, copy, 0);
    syscall(SYS_close, pages);
  }
  errno = error;
  return (int)result;
}

// Memory, for the database's own code only: Swift ends the process where it gets none.

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

static int lacks_memory(void *caller) {
  uintptr_t place = (uintptr_t)caller;
  if (place < library_start || place >= library_end) return 0;
  int how = fails("memory", "liblmdb");
  if (how) errno = ENOMEM;
  return how;
}
#define CALLER __builtin_extract_return_addr(__builtin_return_address(0))
void *malloc(size_t size) { return lacks_memory(CALLER) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) {
  return lacks_memory(CALLER) ? NULL : __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) {
  return lacks_memory(CALLER) ? NULL : __libc_realloc(old, size);
}
