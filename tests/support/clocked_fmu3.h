/* What clocked_fmu3.c does: values of its parameter 'mode', shared with the tests. */
#pragma once

enum ClockedMode {
  ClockedNormal,
  UpdatesForever,   /* from the third tick on: asks for another update at every one */
  FindsEvent,       /* at 0.25 s, inside a step: returns early there; 'out' ticks */
  FindsEventLater,  /* the same at 0.35 s */
  ReturnsEarly,     /* in the middle of every step that is longer than 0.06 s, without an event */
  AnnouncesEvent,   /* at 0.33 s; 'out' ticks */
  EventAtStepEnd,   /* 'out' ticks at the end of the first step that reaches 0.5 s */
  ZeroCountdown,    /* the countdown is 0 at its first three ticks */
  SetAfterGet,      /* an input that is set after an output was read in an event round is an error */
  NeedsInput,       /* y is an error as long as u was not set in the event round */
  StartsCountdown,  /* as FindsEventLater; at this event it starts a countdown of 0.2 s */
  StopsAtEvent,     /* as FindsEventLater; at this event it asks to end the run */
  FindsEventBetween /* as FindsEvent at 0.33 s */
};
