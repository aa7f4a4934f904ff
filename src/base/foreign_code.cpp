#include "base/foreign_code.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <new>

#include "base/fault_watch.hpp"
#include "base/memory_use.hpp"
#include "base/printable.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::base {

ForeignCode::ForeignCode(Owner owner) : owner_(std::move(owner)) {
  if (!existed.exchange(true)) ProcessState::remember_arithmetic();
  start_timing(*this);
}

ForeignCode::~ForeignCode() {
  stop_timing(*this);
}

std::optional<Time> ForeignCode::time() const noexcept {
  const double t = time_.load(std::memory_order_relaxed);
  return std::isnan(t) ? std::nullopt : std::optional(t);
}

void ForeignCode::publish(const char* name) const noexcept {
  const auto copy = [](auto& to, const char* text) { std::strncpy(to.data(), text, to.size() - 1); };
  copy(note->code, owner_.code.c_str());
  copy(note->function, name);
  note->time = time_.load(std::memory_order_relaxed);
  note->calls.fetch_add(1, std::memory_order_relaxed);
}

void ForeignCode::look_at_process() {
  next_look_ = calls() + (calls() < kCallsBetweenLooks ? 1 : kCallsBetweenLooks);
  ProcessState::put_back_soon();
}

void ForeignCode::explain_exception(const char* name) {
  usable_ = false;
  look_after();
  std::string what = "of an unknown type";
  try {
    throw;
  } catch (const Error&) {  // our own, thrown through a callback
    throw;
  } catch (const abi::__forced_unwind&) {  // pthread_exit: cannot be stopped, and nothing of the run would be left
    enter(name);
    FaultWatch::report_end_of_thread(*this);
    throw;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::SubsystemFailed, out_of_memory(name),
                {.subsystem = owner_.subsystem.empty() ? owner_.code : owner_.subsystem,
                 .variable = {},
                 .time = time(),
                 .remedy = "Give the process more memory, or report it to the vendor of the FMU"});
  } catch (const std::exception& exception) {
    what = fmt::format("'{}'", printable_start(exception.what()));
  } catch (...) {  // NOLINT(bugprone-empty-catch): `what` contains it
  }
  throw Error(ErrorCode::SubsystemFailed, {FactCode::CodeThrew, {owner_.code}, {{"function", name}, {"what", what}}},
              {.subsystem = owner_.subsystem,
               .variable = {},
               .time = time(),
               .remedy = "No exception may leave a function of a C interface: report it to its vendor"});
}

}  // namespace entrain::base
