/* An FMI 2.0 co-simulation FMU that reaches for what a sandbox keeps from it, in its first step. Each output is 1 where
   it got it, else minus the error number:
   1 socket   2 process   3 program   4 file of others, read   5 file of others, written   6 own file, read
   7 own file, written   8 temporary file   9 thread   10 variable of the environment; 11 is the memory it got, in MiB
   12 the memory that its worker shares with the run, cut; memory that is not data, in MiB: 13 temporary files
   14 shared mappings   15 files without a name   16 /dev/zero, shared   17 what its worker shares, made longer
   18 descriptors that it holds at once, which are memory of the kernel
   When it is loaded, it leaves a byte in the file of others.
   Then it does what resources/damage.txt says, if there is one: "frame" (a head without its message into the socket),
   "exit N", or "memory FROM", with lines "OFFSET VALUE" of 8 bytes in its mailbox, which has the time of the step at
   FROM.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "idle_fmi2.h"

#define TRIES 18
#define MOST_MEMORY 512 /* MiB */

typedef struct {
  double y[TRIES + 1];
  char resources[500];
} Component;

static double got(int descriptor) {
  if (descriptor < 0) return -errno;
  close(descriptor);
  return 1.0;
}
static double process(void) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  if (child < 0) return -errno;
  waitpid(child, NULL, 0);
  return 1.0;
}
static double program(void) {
  char* arguments[] = {(char*)"true", NULL};
  pid_t child = -1;
  const int error = posix_spawn(&child, "/bin/true", NULL, NULL, arguments, NULL);
  if (error != 0) return -error;
  waitpid(child, NULL, 0);
  return 1.0;
}
static double file(const char* folder, const char* name, int flags) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return got(open(path, flags | O_CLOEXEC, 0600));
}
/* The first line of its own file names a file of others. */
static void file_of_others(const char* resources, char* path, size_t size) {
  char own[600];
  snprintf(own, sizeof own, "%s/own.txt", resources);
  FILE* stream = fopen(own, "r");
  path[0] = '\0';
  if (stream == NULL) return;
  if (fgets(path, (int)size, stream) == NULL) path[0] = '\0';
  fclose(stream);
}
static void* nothing(void* unused) {
  return unused;
}
static double thread(void) {
  pthread_t made;
  const int error = pthread_create(&made, NULL, nothing, NULL);
  if (error != 0) return -error;
  pthread_join(made, NULL);
  return 1.0;
}
/* Not by malloc, which ends the process at the limit when it is a sanitizer's. */
static double memory(void) {
  const size_t size = 1 << 20;
  static void* parts[MOST_MEMORY];
  int count = 0;
  for (; count < MOST_MEMORY; ++count) {
    parts[count] = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (parts[count] == MAP_FAILED) break;
    memset(parts[count], 1, size);
  }
  for (int i = 0; i < count; ++i) munmap(parts[i], size);
  return count;
}

/* What a worker inherits. */
#define SOCKET 3
#define MEMORY 4
#define PAGE 4096

static void overwrite(FILE* plan, double at) {
  struct stat file;
  size_t from = 0;
  size_t offset = 0;
  unsigned long long value = 0;
  if (fstat(MEMORY, &file) != 0 || fscanf(plan, "%zu", &from) != 1) return;
  char* memory = mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, MEMORY, 0);
  if (memory == MAP_FAILED) return;
  char* box = memory + PAGE;
  while (box < memory + file.st_size && memcmp(box + from, &at, sizeof at) != 0) box += PAGE;
  if (box >= memory + file.st_size) return;
  while (fscanf(plan, "%zu %llu", &offset, &value) == 2) memcpy(box + offset, &value, sizeof value);
}
static void do_damage(const char* resources, double at) {
  char path[600];
  char what[20] = "";
  int code = 0;
  snprintf(path, sizeof path, "%s/damage.txt", resources);
  FILE* plan = fopen(path, "r");
  if (plan == NULL) return;
  if (fscanf(plan, "%19s", what) != 1) what[0] = '\0';
  if (strcmp(what, "memory") == 0) overwrite(plan, at);
  if (strcmp(what, "exit") == 0 && fscanf(plan, "%d", &code) == 1) _exit(code);
  if (strcmp(what, "frame") == 0) {
    const unsigned head[2] = {0, 0xfffffff0};
    if (write(SOCKET, head, sizeof head) == (ssize_t)sizeof head) usleep(300000);
  }
  fclose(plan);
}

/* In files of 64 MiB. */
#define FILES 6
#define FILE_SIZE (64 << 20)
static double written(int descriptor) {
  static char part[1 << 20];
  double count = 0;
  memset(part, 1, sizeof part);
  while (count < FILE_SIZE / sizeof part && write(descriptor, part, sizeof part) == (ssize_t)sizeof part) ++count;
  return count;
}
static double temporary_files(const char* folder) {
  int descriptors[FILES];
  double count = 0;
  for (int i = 0; i < FILES; ++i) {
    descriptors[i] = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptors[i] >= 0) count += written(descriptors[i]);
  }
  for (int i = 0; i < FILES; ++i) close(descriptors[i]);
  return count;
}
static double mapped(int flags, int descriptor) {
  char* memory = mmap(NULL, FILE_SIZE, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  if (memory == MAP_FAILED) return 0;
  memset(memory, 1, FILE_SIZE);
  munmap(memory, FILE_SIZE);
  return FILE_SIZE >> 20;
}
static double nameless_file(void) {
  const int descriptor = memfd_create("grasping", MFD_CLOEXEC);
  const double count = descriptor < 0 ? 0 : written(descriptor);
  close(descriptor);
  return count;
}
static double zeros(void) {
  const int descriptor = open("/dev/zero", O_RDWR | O_CLOEXEC);
  const double count = mapped(MAP_SHARED, descriptor);
  close(descriptor);
  return count;
}
/* 0 = not by more than the limit of the tests. */
static double longer(void) {
  struct stat before;
  const off_t size = (off_t)1 << 30;
  if (fstat(MEMORY, &before) != 0 || ftruncate(MEMORY, size) != 0) return 0;
  return size >> 20;
}

/* Of pipes; a soft limit is no limit. */
static double descriptors(void) {
  static int ends[2000][2];
  struct rlimit limit;
  int count = 0;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -errno;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  while (count < 2000 && pipe2(ends[count], O_CLOEXEC) == 0) ++count;
  for (int i = 0; i < count; ++i) close(ends[i][0]), close(ends[i][1]);
  return 2 * count;
}

/* Before anyone has asked for an instance. */
__attribute__((constructor)) static void loaded(void) {
  static const char here = 0;
  Dl_info self;
  char resources[500];
  char others[500];
  if (dladdr(&here, &self) == 0) return;
  snprintf(resources, sizeof resources, "%s", self.dli_fname);
  for (int up = 0; up < 3; ++up) {
    char* slash = strrchr(resources, '/');
    if (slash == NULL) return;
    *slash = '\0';
  }
  strncat(resources, "/resources", sizeof resources - strlen(resources) - 1);
  file_of_others(resources, others, sizeof others);
  const int descriptor = others[0] == '\0' ? -1 : open(others, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor < 0) return;
  if (write(descriptor, "!", 1) != 1) errno = 0;
  close(descriptor);
}

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions* callbacks, fmi2Boolean visible, fmi2Boolean logging) {
  (void)name, (void)type, (void)guid, (void)callbacks, (void)visible, (void)logging;
  Component* c = calloc(1, sizeof(Component));
  if (c == NULL) return NULL;
  const char* path = strncmp(resources, "file://", 7) == 0 ? resources + 7 : resources;
  strncpy(c->resources, path, sizeof c->resources - 1);
  return c;
}
FREED_AT_ONCE
ANY_EXPERIMENT
IDLE(fmi2EnterInitializationMode)
IDLE(fmi2ExitInitializationMode)
IDLE(fmi2Terminate)
IDLE(fmi2Reset)
EXPORT fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n, fmi2Real value[]) {
  for (size_t i = 0; i < n; ++i) value[i] = ((Component*)component)->y[vr[i]];
  return fmi2OK;
}
EXPORT fmi2Status fmi2DoStep(fmi2Component component, fmi2Real from, fmi2Real h, fmi2Boolean no_set) {
  Component* c = component;
  char others[500];
  (void)h, (void)no_set;
  if (from > 0.0) {
    do_damage(c->resources, from);
    return fmi2OK;
  }
  const char* scratch = getenv("TMPDIR") == NULL ? "/tmp" : getenv("TMPDIR");
  c->y[1] = got(socket(AF_INET, SOCK_STREAM, 0));
  c->y[2] = process();
  c->y[3] = program();
  file_of_others(c->resources, others, sizeof others);
  c->y[4] = got(open(others, O_RDONLY | O_CLOEXEC));
  c->y[5] = got(open(others, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  c->y[6] = file(c->resources, "own.txt", O_RDONLY);
  c->y[7] = file(c->resources, "own.txt", O_WRONLY);
  c->y[8] = file(scratch, "grasping", O_WRONLY | O_CREAT);
  c->y[9] = thread();
  c->y[10] = getenv("ENTRAIN_TEST_SECRET") != NULL ? 1.0 : -ENOENT;
  c->y[11] = memory();
  c->y[12] = ftruncate(MEMORY, 0) == 0 ? 1.0 : -errno;
  c->y[13] = temporary_files(scratch);
  c->y[14] = mapped(MAP_SHARED | MAP_ANONYMOUS, -1);
  c->y[15] = nameless_file();
  c->y[16] = zeros();
  c->y[17] = longer();
  c->y[18] = descriptors();
  return fmi2OK;
}
