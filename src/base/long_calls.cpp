#include "base/long_calls.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <condition_variable>
#include <memory>
#include <utility>
#include <vector>

#include "base/fault_watch.hpp"
#include "entrain/fact_codes.hpp"

namespace entrain::base {
namespace {

struct CallListener {
  const LongCalls* owner;
  LongCalls::Handler handler;
  int calls = 0;  ///< under way
};

struct CallListeners {
  std::mutex mutex;
  std::condition_variable returned;
  std::vector<std::shared_ptr<CallListener>> all;
  std::atomic<bool> any = false;
};

CallListeners& listeners() {
  static auto* known = new CallListeners;  // never destroyed: a call may be under way to the very end
  return *known;
}

thread_local const CallListener* inside = nullptr;  // the one whose handler this thread is in

}  // namespace

Fact long_call(const std::string& subsystem, std::string function, Duration lasted, std::optional<Time> time,
               const char* process) {
  Fact call{FactCode::CallTakesLong,
            {subsystem},
            {{"function", std::move(function)}, {"seconds", std::round(lasted), "s"}, {"process", process}}};
  if (time) call.values.emplace_back("time", *time, "s");
  return call;
}

LongCalls::LongCalls(Handler handler) {
  auto& known = listeners();
  {
    const std::lock_guard lock(known.mutex);
    known.all.push_back(std::make_shared<CallListener>(CallListener{this, std::move(handler)}));
    known.any = true;
  }
  FaultWatch::look_again();
}

LongCalls::~LongCalls() {
  auto& known = listeners();
  std::unique_lock lock(known.mutex);
  const auto own =
      std::find_if(known.all.begin(), known.all.end(), [&](const auto& one) { return one->owner == this; });
  if (own == known.all.end()) return;
  const auto listener = *own;
  known.all.erase(own);
  known.any = !known.all.empty();
  const int of_this_thread = inside == listener.get() ? 1 : 0;
  known.returned.wait(lock, [&] { return listener->calls == of_this_thread; });
}

bool LongCalls::heard() noexcept {
  return listeners().any.load(std::memory_order_relaxed);
}

void LongCalls::report(const LongCall& call) noexcept {
  try {
    if (call.of_run) call.of_run(call.fact);
  } catch (...) {  // NOLINT(bugprone-empty-catch): no memory for a note; the call goes on
  }
  if (call.due) report(call.fact);
}

void LongCalls::report(const Fact& call) noexcept {
  auto& known = listeners();
  std::shared_ptr<CallListener> newest;
  {
    const std::lock_guard lock(known.mutex);
    if (known.all.empty()) return;
    newest = known.all.back();
    ++newest->calls;
  }
  const CallListener* const outer = std::exchange(inside, newest.get());
  try {
    newest->handler(call);
  } catch (...) {  // NOLINT(bugprone-empty-catch): a report that failed changes nothing about the call
  }
  inside = outer;
  {
    const std::lock_guard lock(known.mutex);
    --newest->calls;
  }
  known.returned.notify_all();
}

void LongCalls::begin_anew_in_child() noexcept {
  // Those of the parent, and a lock that another thread of it may have held, are left as they are.
  std::construct_at(&listeners());
}

void LongestCall::keep(const Fact& call) {
  const std::lock_guard lock(mutex_);
  if (!longest_ || longest_->number("seconds") <= call.number("seconds")) longest_ = call;
}

std::optional<Fact> LongestCall::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(longest_, std::nullopt);
}

}  // namespace entrain::base
