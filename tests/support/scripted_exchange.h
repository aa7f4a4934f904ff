/* What scripted_exchange.c does from x = 0.5 on: the values of its parameter 'mode', shared with the tests. */
#pragma once

enum ExchangeMode {
  Normal,
  NeverSettles,
  TerminateInStep,
  TerminateInEvent,
  StepEvent,
  Discard,
  FailDerivatives,
  Remembers,
  DiscreteInput
};
