#include "entrain/watchdog.hpp"

#include "base/fault_watch.hpp"
#include "base/long_calls.hpp"
#include "base/private_folder.hpp"

namespace entrain {
namespace {

void report_and_clean_up(const Watchdog::Handler& on_fault, const Error& fault) {
  try {
    on_fault(fault);
  } catch (...) {  // the folders must go whatever else fails, and there is nothing left to report to
  }
  base::remove_private_folders();
}

}  // namespace

struct Watchdog::Impl {
  explicit Impl(Handler on_fault)
      : watch([handler = std::move(on_fault)](const Error& fault) { report_and_clean_up(handler, fault); }) {}
  base::FaultWatch watch;
};

Watchdog::Watchdog(Handler on_fault) : impl_(std::make_unique<Impl>(std::move(on_fault))) {}

Watchdog::~Watchdog() = default;

void Watchdog::end_at_once() noexcept {
  base::FaultWatch::end_at_once();
}

struct LongCallWatch::Impl {
  explicit Impl(Handler on_call) : calls(std::move(on_call)) {}
  base::LongCalls calls;
};

LongCallWatch::LongCallWatch(Handler on_call) : impl_(std::make_unique<Impl>(std::move(on_call))) {}

LongCallWatch::~LongCallWatch() = default;

}  // namespace entrain
