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
  CountCalls     /* nothing wrong: y is the number of calls so far, see COUNTED_... */
};

/* What a call adds to y. */
#define COUNTED_GET 1.0
#define COUNTED_SET 1e3
#define COUNTED_STEP 1e6
#define COUNTED_DERIVATIVES 1e9

#ifndef __cplusplus
#include <stdlib.h>
#include <unistd.h>

/* Sanitizers must not find these faults before the processor does. */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined", "thread")))

UNCHECKED static inline void use_memory_that_is_not_there(void) {
  volatile int* volatile nothing = NULL;
  *nothing = 1;
}
static inline void hang(void) {
  for (;;) sleep(1);
}
/* Does not return for those modes that end the process. */
static inline void take_the_process_along(int mode) {
  if (mode == Segfault) use_memory_that_is_not_there();
  if (mode == Abort) abort();
  if (mode == Hang) hang();
}
#endif
