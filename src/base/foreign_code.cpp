#include "base/foreign_code.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "base/fault_watch.hpp"
#include "base/printable.hpp"
#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::base {

ForeignCode::ForeignCode(Owner owner) : owner_(std::move(owner)) {
  if (owner_.timeout) start_timing(*this);
}

ForeignCode::~ForeignCode() {
  if (owner_.timeout) stop_timing(*this);
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
}

void ForeignCode::explain_exception(const char* name) {
  usable_ = false;
  std::string what = "of an unknown type";
  try {
    throw;
  } catch (const Error&) {  // our own, thrown through a callback
    throw;
  } catch (const std::exception& exception) {
    what = fmt::format("'{}'", printable(exception.what()));
  } catch (...) {  // NOLINT(bugprone-empty-catch): `what` contains it
  }
  throw Error(ErrorCode::SubsystemFailed, {FactCode::CodeThrew, {owner_.code}, {{"function", name}, {"what", what}}},
              {.subsystem = owner_.subsystem,
               .variable = {},
               .time = time(),
               .remedy = "No exception may leave a function of a C interface: report it to its vendor"});
}

}  // namespace entrain::base
