#include "sweep/case_pool.hpp"

#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/looking.hpp"

namespace entrain::sweeping {

void ProcessPool::take(std::size_t number) {
  auto idle = std::find_if(workers_.begin(), workers_.end(), [](const Worker& each) { return !each.busy; });
  if (idle == workers_.end()) {
    runner_ = std::make_unique<CaseRunner>(context_);
    workers_.push_back({std::make_unique<CaseProcess>(*runner_, jobs_), false});
    idle = workers_.end() - 1;
  }
  idle->process->ask(number);
  idle->busy = true;
  ++busy_;
}

std::vector<CaseEnd> ProcessPool::wait_also_for(int descriptor) {
  std::vector<pollfd> events{{descriptor, POLLIN, 0}};
  for (const auto& worker : workers_) events.push_back({worker.busy ? worker.process->descriptor() : -1, POLLIN, 0});
  std::vector<CaseEnd> ends;
  if (::poll(events.data(), events.size(), kLongestWait) <= 0) return ends;
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (events[i + 1].revents == 0 || !workers_[i].process->receive()) continue;
    ends.push_back(end_of(*workers_[i].process));
    workers_[i].busy = false;
    --busy_;
  }
  std::erase_if(workers_, [](const Worker& each) { return each.process->has_ended(); });
  return ends;
}

CaseEnd ProcessPool::end_of(CaseProcess& process) {
  CaseEnd end;
  end.number = process.asked();
  auto answer = process.answer();
  if (answer) {
    end.answer = std::move(*answer);
  } else {
    end.how = process.how();
    end.killed = process.was_killed();
  }
  return end;
}

std::size_t jobs_of(const SweepOptions& options) {
  return static_cast<std::size_t>(options.jobs > 0 ? options.jobs : base::processors());
}

}  // namespace entrain::sweeping
