#include "entrain/watchdog.hpp"

#include "base/fault_watch.hpp"
#include "base/private_folder.hpp"

namespace entrain {
namespace {

void tell_and_tidy(const Watchdog::Handler& on_fault, const Error& fault) {
  try {
    on_fault(fault);
  } catch (...) {  // the folders must go whatever else fails, and nobody is left to be told
  }
  base::remove_private_folders();
}

}  // namespace

struct Watchdog::Impl {
  explicit Impl(Handler on_fault)
      : watch([told = std::move(on_fault)](const Error& fault) { tell_and_tidy(told, fault); }) {}
  base::FaultWatch watch;
};

Watchdog::Watchdog(Handler on_fault) : impl_(std::make_unique<Impl>(std::move(on_fault))) {}

Watchdog::~Watchdog() = default;

}  // namespace entrain
