/* What scripted_exchange.c does from x = 0.5 on: the values of its parameter 'mode' beside those in faults.h, shared
   with the tests. */
#pragma once

#include "faults.h"

enum ExchangeMode {
  NormalExchange,
  NeverSettlesExchange,
  TerminateInStep,
  TerminateInEventExchange,
  StepEvent,
  DiscardExchange,
  Remembers,
  DiscreteInput
};
