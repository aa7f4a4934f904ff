/* An FMI 2.0 co-simulation FMU, der(x) = u + v, y = x, with one trap of FMUs in the field; the guid determines which:
   get_crash        fmi2GetFMUstate uses memory that is not there
   state_crash      so does fmi2SetFMUstate
   state_quiet      fmi2SetFMUstate ends the process, with exit code 0
   second_crash     so does fmi2Instantiate when the process has had an instance
   late             y = 5 + x, which is known when the initialization mode is left; before it is 0
   late_sum         y = 5 + u likewise
   late_number      its Integer output 10 is 7 then, and before it is 0
   number           y = its Integer input 11, as it was in the last step
   gain             y = 2 u at any time
   one_order        warns when derivatives of several orders come in one call, and holds its inputs then
   warns            warns whenever derivatives come, and holds its inputs
   warns_later      the same from t = 0.5 s on
   strange          takes derivatives of order 2 for something else
   chatty           logs what it does, without trouble, in categories that its description does not name
   once             nothing
   In the step that passes t = 0.5 s, once, or with "early_" before it in fmi2EnterInitializationMode:
   hangs            does not return
   rounds           rounds upwards from then on
   flushes          turns denormal numbers to zero from then on
   trapped          has floating point faults trapped from then on
   blocks           blocks all signals from then on
   handles          ignores signals from then on, crashes among them
   german           chooses the locale de_DE.UTF-8
   moves            changes the working directory to /
   reopens          closes the standard streams and opens a file in their place
   closes           closes all other files and opens a file in their place
   prints           prints two lines to both standard streams
   wordy            logs a message of 5000 letters
   ends_thread      ends the thread that called it
   crashing_thread  starts a thread that uses memory that is not there */
#define _GNU_SOURCE
#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <xmmintrin.h>

#include "faults.h"
#include "idle_fmi2.h"

#define ORDERS 4

typedef struct {
  fmi2CallbackLogger log;
  void* environment;
  char trap[20];
  double t, x, u[ORDERS], v[ORDERS]; /* inputs and their derivatives */
  int running, early, number, number_in_step;
} Component;

static int instances = 0;

/* One byte for each, of all processes. */
static void count_instance(void) {
  const char* file = getenv("ENTRAIN_TEST_INSTANCES");
  if (file == NULL) return;
  const int opened = open(file, O_CREAT | O_WRONLY | O_APPEND, 0600);
  if (write(opened, ".", 1) != 1) use_memory_that_is_not_there();
  close(opened);
}

/* A line with the program that it is in. */
static void note_program(void) {
  char line[500];
  const char* file = getenv("ENTRAIN_TEST_PROGRAMS");
  if (file == NULL) return;
  const ssize_t size = readlink("/proc/self/exe", line, sizeof line - 1);
  if (size < 0) return;
  line[size] = '\n';
  const int opened = open(file, O_CREAT | O_WRONLY | O_APPEND, 0600);
  if (write(opened, line, (size_t)size + 1) != size + 1) use_memory_that_is_not_there();
  close(opened);
}

static void* stay(void* unused) {
  hang();
  return unused;
}
/* As libraries do that compute with several threads. */
__attribute__((constructor)) static void start_thread(void) {
  pthread_t thread;
  if (getenv("ENTRAIN_TEST_THREAD") != NULL && pthread_create(&thread, NULL, stay, NULL) == 0) pthread_detach(thread);
}

static int is(const Component* c, const char* trap) {
  return strcmp(c->trap, trap) == 0;
}

static void* crash(void* unused) {
  use_memory_that_is_not_there();
  return unused;
}

static void reopen(int first, int last) {
  for (int i = first; i <= last; ++i) close(i);
  for (int i = first; i <= last; ++i) {
    const int opened = open("taken.txt", O_CREAT | O_WRONLY | O_APPEND, 0600);
    (void)opened;
  }
}

static void spring(const Component* c) {
  if (is(c, "hangs")) hang();
  if (is(c, "rounds")) fesetround(FE_UPWARD);
  if (is(c, "flushes")) _mm_setcsr(_mm_getcsr() | 0x8040);
  if (is(c, "trapped")) feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT);
  if (is(c, "blocks")) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
  }
  if (is(c, "handles")) {
    for (int number = 1; number < 32; ++number) signal(number, SIG_IGN);
  }
  if (is(c, "german") && setlocale(LC_ALL, "de_DE.UTF-8") == NULL) use_memory_that_is_not_there();
  if (is(c, "moves") && chdir("/") != 0) use_memory_that_is_not_there();
  if (is(c, "reopens")) reopen(0, 2);
  if (is(c, "closes")) reopen(3, 60);
  if (is(c, "prints")) {
    printf("{ to the output\nof the process\n");
    fprintf(stderr, "{ to the errors\nof the process\n");
  }
  if (is(c, "wordy")) {
    char text[5001] = {0};
    memset(text, 'x', sizeof text - 1);
    c->log(c->environment, "trap", fmi2Warning, "logStatusWarning", "%s", text);
  }
  if (is(c, "ends_thread")) pthread_exit(NULL);
  if (is(c, "crashing_thread")) {
    pthread_t thread;
    pthread_create(&thread, NULL, crash, NULL);
    hang();
  }
}

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions* callbacks, fmi2Boolean visible, fmi2Boolean logging) {
  (void)name, (void)type, (void)resources, (void)visible, (void)logging;
  count_instance();
  note_program();
  if (++instances > 1 && strcmp(guid, "second_crash") == 0) use_memory_that_is_not_there();
  if (callbacks->stepFinished != NULL) return NULL; /* takes steps for asynchronous then */
  Component* c = calloc(1, sizeof(Component));
  c->log = callbacks->logger;
  c->environment = callbacks->componentEnvironment;
  c->early = strncmp(guid, "early_", 6) == 0;
  strncpy(c->trap, guid + (c->early ? 6 : 0), sizeof c->trap - 1);
  return c;
}
FREED_AT_ONCE
ANY_EXPERIMENT
EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component component) {
  const Component* c = component;
  if (c->early) spring(c);
  return fmi2OK;
}
EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component component) {
  ((Component*)component)->running = 1;
  return fmi2OK;
}
IDLE(fmi2Terminate)
EXPORT fmi2Status fmi2Reset(fmi2Component component) {
  Component* c = component;
  c->t = c->x = 0.0;
  c->running = c->number = c->number_in_step = 0;
  memset(c->u, 0, sizeof c->u);
  memset(c->v, 0, sizeof c->v);
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n, fmi2Real value[]) {
  const Component* c = component;
  for (size_t i = 0; i < n; ++i) {
    value[i] = vr[i] == 0 ? c->u[0] : vr[i] == 2 ? c->v[0] : c->x;
    if (vr[i] == 1 && is(c, "late")) value[i] = c->running ? 5.0 + c->x : 0.0;
    if (vr[i] == 1 && is(c, "late_sum")) value[i] = c->running ? 5.0 + c->u[0] : 0.0;
    if (vr[i] == 1 && is(c, "gain")) value[i] = 2.0 * c->u[0];
    if (vr[i] == 1 && is(c, "number")) value[i] = c->number_in_step;
  }
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetInteger(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                                 fmi2Integer value[]) {
  const Component* c = component;
  for (size_t i = 0; i < n; ++i) value[i] = vr[i] == 11 ? c->number : c->running ? 7 : 0;
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetInteger(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                                 const fmi2Integer value[]) {
  (void)vr;
  if (n > 0) ((Component*)component)->number = value[n - 1];
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetReal(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                              const fmi2Real value[]) {
  Component* c = component;
  for (size_t i = 0; i < n; ++i) *(vr[i] == 0 ? c->u : c->v) = value[i];
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetRealInputDerivatives(fmi2Component component, const fmi2ValueReference vr[], size_t n,
                                              const fmi2Integer order[], const fmi2Real value[]) {
  Component* c = component;
  const int several = n > 0 && order[0] != order[n - 1];
  const int ignored = (is(c, "one_order") && several) || is(c, "warns") || (is(c, "warns_later") && c->t > 0.5 - 1e-9);
  for (size_t i = 0; i < n; ++i) (vr[i] == 0 ? c->u : c->v)[order[i]] = ignored ? 0.0 : value[i];
  return ignored ? fmi2Warning : fmi2OK;
}
EXPORT fmi2Status fmi2DoStep(fmi2Component component, fmi2Real from, fmi2Real h, fmi2Boolean no_set) {
  Component* c = component;
  double part = h; /* h^(p + 1) / (p + 1)! */
  (void)no_set;
  c->number_in_step = c->number;
  for (int p = 0; p < ORDERS; ++p) {
    c->x += part * (c->u[p] + c->v[p]) * (p == 2 && is(c, "strange") ? 7.0 : 1.0);
    part *= h / (p + 2);
  }
  if (from < 0.5 && from + h >= 0.5 && !c->early) spring(c);
  c->t = from + h;
  if (is(c, "chatty")) c->log(c->environment, "trap", fmi2OK, "calls", "fmi2DoStep from %g", from);
  if (is(c, "chatty")) c->log(c->environment, "trap", fmi2Warning, "calls", "close to %g", from);
  return fmi2OK;
}
EXPORT fmi2Status fmi2GetFMUstate(fmi2Component component, fmi2FMUstate* state) {
  if (is(component, "get_crash")) use_memory_that_is_not_there();
  if (*state == NULL) *state = malloc(sizeof(Component));
  memcpy(*state, component, sizeof(Component));
  return fmi2OK;
}
EXPORT fmi2Status fmi2SetFMUstate(fmi2Component component, fmi2FMUstate state) {
  Component* c = component;
  if (is(c, "state_crash")) use_memory_that_is_not_there();
  if (is(c, "state_quiet")) end_quietly(0);
  memcpy(c, state, sizeof(Component));
  return fmi2OK;
}
EXPORT fmi2Status fmi2FreeFMUstate(fmi2Component component, fmi2FMUstate* state) {
  (void)component;
  free(*state);
  *state = NULL;
  return fmi2OK;
}
