#pragma once

#include "subsystem/fmi/fmu_instance.hpp"

namespace entrain::subsystem {

/// HeldStep::Function of a version; the context is an FmuShortWay. `Calls`: the names of the version's three functions,
/// and calls of them in its own types.
template <class Calls>
const StepReport* step_held(void* context, Time from, Duration size, const double* inputs, double* outputs) {
  using Call = FmuHalt::Call;
  auto& way = *static_cast<FmuShortWay*>(context);
  const auto in_full = [&] { return Subsystem::Step{from, size, InputBlock(inputs, way.inputs.size(), 0)}; };
  const Time end = from + size;
  if (!(end <= way.until)) return way.owner->step_at_length(in_full(), outputs);
  way.reached = end;
  base::ForeignCode& code = *way.code;
  code.set_time(from);
  auto status = Calls::kOk;
  FmuEnding ending{from};
  const Call halt = code.visit([&] {
    if (!way.inputs.empty()) {
      code.enter(Calls::kSet);
      status = Calls::set(way, inputs);
      if (status != Calls::kOk) return Call::Set;
    }
    code.enter(Calls::kStep);
    status = Calls::step(way, from, size, ending);
    if (status != Calls::kOk || ending.event || ending.terminate || ending.early) return Call::Step;
    if (way.outputs.empty()) return Call::None;
    code.enter(Calls::kGet);
    status = Calls::get(way, outputs);
    return status == Calls::kOk ? Call::None : Call::Get;
  });
  if (halt == Call::None) return nullptr;
  return way.owner->resume({halt, static_cast<int>(status), ending}, in_full(), outputs);
}

}  // namespace entrain::subsystem
