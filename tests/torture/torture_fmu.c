/* An FMI 2.0 co-simulation FMU, y = t + 1, for tools/torture. At the time 'at' the call 'where' does what 'fault'
   names; the call 'longer step' is a step of more than 0.19 s: one of a companion of the run. Every step takes 'pace' s
   of wall clock time, and is noted in the file 'steps' of the working directory when it begins: its time, the wall
   clock time and the process. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

#include "support/faults.h"
#include "support/idle_fmi2.h"
#include "support/scripted_fmu.h"

/* The texts that tools/torture writes into the parameters. */
#define TEXT 40

typedef struct {
  double u, t, at, pace;
  char fault[TEXT], where[TEXT];
  fmi2CallbackFunctions callbacks;
} Component;

static int is(const Component* c, const char* fault) {
  return strcmp(c->fault, fault) == 0;
}

static void note_step(double t) {
  char line[100];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const int size =
      snprintf(line, sizeof line, "%.17g %.6f %d\n", t, (double)now.tv_sec + 1e-9 * (double)now.tv_nsec, (int)getpid());
  const int file = open("steps", O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) return;
  if (write(file, line, (size_t)size) != size) unlink("steps");
  close(file);
}

static void* crash(void* unused) {
  use_memory_that_is_not_there();
  return unused;
}
static void* stay(void* unused) {
  hang();
  return unused;
}
static void start(void* (*function)(void*)) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, function, NULL) == 0) pthread_detach(thread);
}
static void reopen(int first, int last) {
  for (int i = first; i <= last; ++i) close(i);
  for (int i = first; i <= last; ++i) {
    const int opened = open("taken.txt", O_CREAT | O_WRONLY | O_APPEND, 0600);
    (void)opened;
  }
}
/* Writes over the bookkeeping of the allocator around a block of its own, and uses the heap. */
UNCHECKED static void corrupt_heap(size_t reach) {
  volatile char* volatile block = malloc(40);
  for (size_t i = 0; i < reach; ++i) block[40 + i] = (char)0xA5;
  char* others[8];
  for (int i = 0; i < 8; ++i) others[i] = malloc(40);
  for (int i = 0; i < 8; ++i) free(others[i]);
  free((void*)block);
}

/* What ends the process, or should. */
static void end(const Component* c) {
  static volatile int depth;
  if (is(c, "segfault")) take_the_process_along(Segfault);
  if (is(c, "abort")) take_the_process_along(Abort);
  if (is(c, "hang")) take_the_process_along(Hang);
  if (is(c, "_exit")) take_the_process_along(EndQuietly);
  if (is(c, "exec")) take_the_process_along(Replace);
  if (is(c, "own_handler")) take_the_process_along(OwnHandler);
  if (is(c, "kill_itself")) take_the_process_along(KillItself);
  if (is(c, "crash_once")) take_the_process_along(CrashOnce);
  if (is(c, "division")) depth = divided(0);
  if (is(c, "illegal")) __builtin_trap();
  if (is(c, "bus")) raise(SIGBUS);
  if (is(c, "stack")) depth = recurse(&depth);
  if (is(c, "exit_0")) exit(0);
  if (is(c, "exit_3")) exit(3);
  if (is(c, "quick_exit")) quick_exit(0);
  if (is(c, "pthread_exit")) pthread_exit(NULL);
  if (is(c, "throw")) throw_exception();
  if (is(c, "throw_long")) throw_long_exception();
  if (is(c, "memory")) exhaust_memory();
  if (is(c, "wild_free")) {
    void* volatile nowhere = (void*)(size_t)0x1234567;
    free(nowhere);
  }
  if (is(c, "double_free")) {
    void* volatile block = malloc(2000);
    free(block);
    free(block);
    abort(); /* where the allocator does not see it */
  }
  if (is(c, "heap_small")) corrupt_heap(16);
  if (is(c, "heap_large")) corrupt_heap(4000);
  if (is(c, "crashing_thread")) {
    start(crash);
    hang();
  }
}

/* What leaves the process changed, and must not change the results. */
static void change(const Component* c) {
  if (is(c, "rounds")) fesetround(FE_UPWARD);
#ifdef __SSE__
  if (is(c, "flushes")) _mm_setcsr(_mm_getcsr() | 0x8040); /* denormal numbers to zero */
#endif
  if (is(c, "traps")) feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
  if (is(c, "locale") && setlocale(LC_ALL, "de_DE.UTF-8") == NULL && getenv("LOCPATH") != NULL) abort();
  if (is(c, "moves") && chdir("/") != 0) abort();
  if (is(c, "prints")) printf("{ to the output\n");
  if (is(c, "standard_streams")) reopen(0, 2);
  if (is(c, "closes")) reopen(3, 60);
  if (is(c, "staying_thread")) start(stay);
  if (is(c, "blocks")) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
  }
  if (is(c, "ignores")) {
    for (int number = 1; number < 32; ++number) signal(number, SIG_IGN);
  }
}

static fmi2Status do_it(const Component* c, const char* where) {
  if (strcmp(c->where, where) != 0) return fmi2OK;
  if (c->t < c->at - 1e-9 && (strcmp(where, "fmi2DoStep") == 0 || strcmp(where, "longer step") == 0)) return fmi2OK;
  end(c);
  change(c);
  if (is(c, "error") || is(c, "fatal")) {
    c->callbacks.logger(c->callbacks.componentEnvironment, "torture", fmi2Error, "logStatusError", "the boiler burst");
  }
  return is(c, "error") ? fmi2Error : is(c, "fatal") ? fmi2Fatal : is(c, "discard") ? fmi2Discard : fmi2OK;
}
/* Calls that happen all the time misbehave once a step has reached 'at'. */
static fmi2Status do_it_later(const Component* c, const char* where) {
  return c->t >= c->at - 1e-9 ? do_it(c, where) : fmi2OK;
}

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions* callbacks, fmi2Boolean visible, fmi2Boolean logging) {
  (void)name, (void)type, (void)guid, (void)resources, (void)visible, (void)logging;
  Component* c = calloc(1, sizeof(Component));
  if (c == NULL) return NULL;
  c->callbacks = *callbacks;
  return c;
}
EXPORT void fmi2FreeInstance(fmi2Component c) {
  do_it_later(c, "fmi2FreeInstance");
  free(c);
}
ANY_EXPERIMENT
EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c) {
  return do_it(c, "fmi2EnterInitializationMode");
}
EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component c) {
  return do_it(c, "fmi2ExitInitializationMode");
}
EXPORT fmi2Status fmi2Terminate(fmi2Component c) {
  return do_it_later(c, "fmi2Terminate");
}
IDLE(fmi2Reset)
EXPORT fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n, fmi2Real value[]) {
  const Component* c = component;
  const int broken = c->t >= c->at - 1e-9 && strcmp(c->where, "fmi2GetReal") == 0;
  for (size_t i = 0; i < n; ++i) {
    value[i] = vr[i] == 0 ? c->u : vr[i] == 3 ? c->at : vr[i] == 4 ? c->pace : c->t + 1.0;
    if (broken && is(c, "nan")) value[i] = NAN;
    if (broken && is(c, "infinity")) value[i] = INFINITY;
  }
  return do_it_later(c, "fmi2GetReal");
}
EXPORT fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                              const fmi2Real value[]) {
  Component* c = component;
  for (size_t i = 0; i < n; ++i) *(vr[i] == 0 ? &c->u : vr[i] == 3 ? &c->at : &c->pace) = value[i];
  return do_it_later(c, "fmi2SetReal");
}
EXPORT fmi2Status fmi2SetString(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                                const fmi2String value[]) {
  Component* c = component;
  for (size_t i = 0; i < n; ++i) strncpy(vr[i] == 5 ? c->fault : c->where, value[i], TEXT - 1);
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetString(fmi2Component component, const fmi2ValueReference vr[], size_t n, fmi2String value[]) {
  const Component* c = component;
  const int wild = c->t >= c->at - 1e-9 && is(c, "wild_text");
  for (size_t i = 0; i < n; ++i) {
    value[i] = vr[i] == 5 ? c->fault : vr[i] == 6 ? c->where : wild ? (const char*)(size_t)0x1234567 : "sound";
  }
  return do_it_later(c, "fmi2GetString");
}
EXPORT fmi2Status fmi2DoStep(fmi2Component component, fmi2Real from, fmi2Real size, fmi2Boolean no_set) {
  Component* c = component;
  (void)no_set;
  if (c->pace > 0.0) {
    note_step(from);
    usleep((useconds_t)(c->pace * 1e6));
  }
  c->t = from;
  const fmi2Status status = do_it(c, size > 0.19 ? "longer step" : "fmi2DoStep");
  c->t = from + size;
  return status;
}
EXPORT fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate* state) {
  if (*state == NULL) *state = malloc(sizeof(Component));
  if (*state == NULL) return fmi2Error;
  memcpy(*state, component, sizeof(Component));
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate state) {
  const fmi2Status status = do_it(component, "fmi2SetFMUstate");
  memcpy(component, state, sizeof(Component));
  return status;
}
EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate* state) {
  (void)component;
  free(*state);
  *state = NULL;
  return fmi2OK;
}
