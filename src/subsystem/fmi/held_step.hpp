#pragma once

#include "subsystem/fmi/fmu_instance.hpp"

namespace entrain::subsystem {

/// HeldStep::Function of a version; the context is an FmuHeldStep. `Calls`: the names of the version's three functions,
/// and calls of them in its own types.
template <class Calls>
const StepReport* step_held(void* context, Time from, Duration size, const double* inputs, double* outputs) {
  using Call = FmuHalt::Call;
  auto& held = *static_cast<FmuHeldStep*>(context);
  const auto in_full = [&] { return Subsystem::Step{from, size, InputBlock(inputs, held.inputs.size(), 0)}; };
  const Time end = from + size;
  if (!(end <= held.until)) return held.owner->step_at_length(in_full(), outputs);
  held.reached = end;
  base::ForeignCode& code = *held.code;
  code.set_time(from);
  auto status = Calls::kOk;
  FmuEnding ending{from};
  const Call halt = code.visit([&] {
    if (!held.inputs.empty()) {
      code.enter_in_run(Calls::kSet);
      status = Calls::set(held, inputs);
      if (status != Calls::kOk) return Call::Set;
    }
    code.enter_in_run(Calls::kStep);
    status = Calls::step(held, from, size, ending);
    if (status != Calls::kOk || ending.event || ending.terminate || ending.early) return Call::Step;
    if (held.outputs.empty()) return Call::None;
    code.enter_in_run(Calls::kGet);
    status = Calls::get(held, outputs);
    return status == Calls::kOk ? Call::None : Call::Get;
  });
  if (halt == Call::None) return nullptr;
  return held.owner->resume({halt, static_cast<int>(status), ending}, in_full(), outputs);
}

}  // namespace entrain::subsystem
