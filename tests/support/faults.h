/* What goes wrong in each of the scripted FMUs from the middle of a run on, beside what each can do of its own: values
   of their parameter 'mode', shared with the tests. */
#pragma once

enum Fault {
  ReturnError = 100,
  ReturnFatal,
  ReturnNan,
  Segfault,
  Abort,
  Hang,
  LogNothing,
  CrashWhenTold, /* FMI 3: in fmi3SetFloat64, when that is called from the intermediate update of a step */
  EndQuietly,    /* _exit(0) */
  Replace,       /* exec of a program that succeeds */
  OwnHandler,    /* a SIGSEGV caught by a handler of the FMU, which ends the process as if all were well */
  KillItself,    /* SIGKILL, as the kernel does when memory is used up */
  CrashOnce,     /* unless there is a file 'crashed' in the working directory, which it leaves */
  HangOnce,      /* the same with a file 'hung' */
  CountCalls     /* nothing wrong: y is the number of calls so far, see COUNTED_... */
};

/* What a call adds to y. */
#define COUNTED_GET 1.0
#define COUNTED_SET 1e3
#define COUNTED_STEP 1e6
#define COUNTED_DERIVATIVES 1e9

#ifndef __cplusplus
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* Sanitizers must not find these faults before the processor does. */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined", "thread")))

UNCHECKED static inline void use_memory_that_is_not_there(void) {
  volatile int* volatile nothing = NULL;
  *nothing = 1;
}
UNCHECKED static inline int recurse(volatile int* depth) {
  volatile int frame[1000];
  frame[0] = ++*depth;
  return *depth > 0 ? recurse(depth) + frame[0] : 0;
}
UNCHECKED static inline int divided(volatile int by) {
  return 1000 / by;
}
static inline void hang(void) {
  for (;;) sleep(1);
}
static inline void end_quietly(int signal) {
  (void)signal;
  _exit(0);
}
/* There is no such file, and from now on there is. */
static inline int is_first(const char* file) {
  if (access(file, F_OK) == 0) return 0;
  close(open(file, O_CREAT | O_WRONLY, 0600));
  return 1;
}
/* Does not return for those modes that end the process. */
static inline void take_the_process_along(int mode) {
  if (mode == Segfault) use_memory_that_is_not_there();
  if (mode == Abort) abort();
  if (mode == Hang) hang();
  if (mode == EndQuietly) end_quietly(0);
  if (mode == Replace) execl("/bin/true", "true", (char*)NULL);
  if (mode == KillItself) raise(SIGKILL);
  if (mode == CrashOnce && is_first("crashed")) use_memory_that_is_not_there();
  if (mode == HangOnce && is_first("hung")) hang();
  if (mode == OwnHandler) {
    signal(SIGSEGV, end_quietly);
    use_memory_that_is_not_there();
  }
}
#endif
