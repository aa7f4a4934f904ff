#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.hpp"
#include "base/function_ref.hpp"
#include "entrain/ids.hpp"
#include "entrain/subsystem.hpp"

namespace entrain::coupling {

/// Of a system whose subsystems live in several processes, which all make the same calls (docs/adr/0081). A call is
/// made where its subsystem lives, and what it brought is exchanged, at once; between `open` and `close` it is recorded
/// instead, and one `exchange` passes everything on: from then on calls of subsystems that live elsewhere return what
/// was recorded there.
class SharedCalls {
 public:
  virtual ~SharedCalls() = default;
  virtual bool is_here(SubsystemId s) const = 0;
  /// `decision`: a sum of what is about to be done, which is the same in all processes. `batch`: the subsystems that
  /// are called; borrowed until `close`.
  virtual void open(std::uint64_t decision, std::span<const SubsystemId> batch) = 0;
  virtual void exchange() = 0;
  virtual void close() = 0;
  /// For steps that all subsystems make under held inputs, without records: where the outputs of each lie among those
  /// of all. Before the first one.
  virtual void lay_out(std::span<const std::size_t> first_outputs) = 0;
  /// The outputs of those that live here are there; those of the others come. Returns the subsystems, wherever they
  /// live, whose step did not just end: `unusual` are those here.
  virtual std::span<const SubsystemId> exchange_outputs(std::uint64_t decision, std::span<double> outputs,
                                                        std::span<const SubsystemId> unusual) = 0;
  /// One number of each subsystem, likewise.
  virtual void exchange_numbers(std::uint64_t decision, std::span<double> numbers) = 0;
  /// What `made` returns or throws where `s` lives; inside a section.
  virtual StepReport report_of(SubsystemId s, base::FunctionRef<StepReport()> made) = 0;
  /// The number that the process where `s` lives gives; inside a section.
  virtual double number_of(SubsystemId s, double given) = 0;
  /// Work on `s` that is done where it lives alone, inside a section; calls of `s` in it are not passed on. What
  /// it leaves in `results`, as large in all processes, comes to all, and so does what it throws.
  virtual void at_home(SubsystemId s, base::FunctionRef<void()> work,
                       std::span<const std::span<std::byte>> results) = 0;
  /// Bytes that are made where `s` lives, likewise.
  virtual base::Bytes bytes_of(SubsystemId s, base::FunctionRef<base::Bytes()> make) = 0;
};

}  // namespace entrain::coupling
