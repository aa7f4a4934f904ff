/* What scripted_fmu3.c does: values of its parameter 'mode' beside those in faults.h, shared with the tests. */
#pragma once

#include "faults.h"

enum ScriptedMode3 {
  Normal3,
  EventInside,       /* at 0.25 s, found by the FMU: offset + 1 */
  Announced,         /* at 0.33 s and 0.66 s, announced: offset + 10 each; a step past one is an error */
  NeverSettles3,     /* at 0.25 s */
  EventInPlace,      /* at 0.5 s, reported by the step that starts there */
  EndlessInPlace,    /* the same, again and again */
  DiscardLong,       /* steps longer than 0.03 s from 0.5 s on */
  DiscardAll3,       /* every step from 0.5 s on */
  TerminateInEvent3, /* at 0.25 s */
  NoEventMode,       /* claims an event mode that does not work */
  WarnOnSet,         /* fmi3SetFloat64 returns a warning from 0.5 s on */
  AskNothing         /* claims an intermediate update and never asks */
};
