/* The model of late_fmu1.c, late_fmu2.c and late_fmu3.c, which offer it by every version and interface of FMI. Its
   guid determines which:
   late      y = 5 + u from the end of the initialization on; before, y is 0
   updated   y = 5 + u from the first update of discrete states on; before, y is 0
   gain      y = 2 u
   integral  y = x, x' = u
   In step mode y is what the end of the initialization, the latest step or the latest event left, whatever u has been
   set to since: co-simulation need not calculate anything between steps. */
#pragma once

#include <stdlib.h>
#include <string.h>

enum { InputU = 0, OutputY = 1, StateX = 2, SlopeX = 3 };
enum LatePhase { Made, Initializing, Events, Steps, ContinuousTime };

typedef struct {
  char kind[12];
  enum LatePhase phase;
  int events;         /* its initialization ends in event mode */
  int ended, updated; /* the initialization; the discrete states */
  double x, u, y;
} Component;

static Component* made_of(const char* guid) {
  Component* c = calloc(1, sizeof(Component));
  strncpy(c->kind, guid, sizeof c->kind - 1);
  return c;
}
static inline void begin_anew(Component* c) {
  Component fresh = {.events = c->events};
  memcpy(fresh.kind, c->kind, sizeof fresh.kind);
  *c = fresh;
}

static int is(const Component* c, const char* kind) {
  return strcmp(c->kind, kind) == 0;
}
static double calculated(const Component* c) {
  if (is(c, "gain")) return 2.0 * c->u;
  if (is(c, "integral")) return c->x;
  return (is(c, "late") ? c->ended : c->updated) ? 5.0 + c->u : 0.0;
}
static void enter(Component* c, enum LatePhase phase) {
  c->ended = c->ended || phase > Initializing;
  c->phase = phase;
  c->y = calculated(c);
}
static void advance(Component* c, double h) {
  c->x += h * c->u;
  c->y = calculated(c);
}
static inline double slope(const Component* c) {
  return is(c, "integral") ? c->u : 0.0;
}

/* False for what may not be read here. */
static int get(Component* c, unsigned reference, double* value) {
  if (c->phase == Made) return 0;
  if (c->phase != Steps) c->y = calculated(c);
  const double all[] = {c->u, c->y, c->x, slope(c)};
  *value = all[reference];
  return 1;
}
static void set(Component* c, unsigned reference, double value) {
  *(reference == InputU ? &c->u : &c->x) = value;
}
