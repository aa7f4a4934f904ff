// What f3ornits remembers: for checkpoints, and to take back the steps that ended behind a jump.
#include <algorithm>

#include "base/bytes.hpp"
#include "methods/asynchronous/f3ornits.hpp"

namespace entrain {
namespace {

constexpr double kSizeRounding = 1e-9;
// A step that ended behind a jump is made again as this share of it.
constexpr double kShorter = 0.1;

}  // namespace

bool F3ornits::Member::at_its_shortest() const {
  return imposed || size <= min_step * (1 + kSizeRounding);
}

void F3ornits::keep_before_plan() {
  before_.now = now_;
  before_.due.assign(due_.begin(), due_.end());
  before_.changed.clear();
  before_.progress.clear();
  before_.wishes.clear();
  before_.inputs.clear();
  before_.outputs.clear();
  before_.estimates.clear();
  for (const SubsystemId s : due_) keep(s);
}

/// Steps are made when they end, so that those who end together are all that must be rolled back; but for those who
/// only read, who are stepped when all others have made their steps for good.
void F3ornits::keep_before_steps(CoupledSystem& system) {
  before_.stepped.clear();
  for (const SubsystemId s : due_) {
    if (!rendezvous_.only_reads(s)) before_.stepped.push_back(s);
  }
  before_.kept = !before_.stepped.empty() && std::all_of(before_.stepped.begin(), before_.stepped.end(),
                                                         [&](SubsystemId s) { return members_[s].rollback; });
  if (!before_.kept) return;
  for (const SubsystemId s : due_) {
    const bool planned_now = members_[s].from == before_.now;
    if (!planned_now) keep(s);
  }
  system.save(before_.stepped, before_.steps);
}

/// True when everything was put back, because a step that ended behind a jump can be made shorter. Whom it meets, and
/// the stop time, may not let it: what was made again and ended where it did before stays as it is.
bool F3ornits::taken_back_for_jump(CoupledSystem& system) {
  if (!before_.kept) return false;
  if (now_ >= before_.taken_back_end) jumped_.clear();
  std::erase_if(jumped_, [&](SubsystemId s) {
    const bool began_earlier = members_[s].from != before_.now;  // others have communicated since
    return began_earlier || members_[s].at_its_shortest();
  });
  if (!jumped_.empty()) {
    system.restore(before_.steps);
    rendezvous_.take_back(before_.due, due_);
    std::vector<Duration> shorter;
    for (const SubsystemId s : jumped_) {
      shorter.push_back(std::max(members_[s].min_step, kShorter * members_[s].size));
    }
    put_back_changed();
    for (std::size_t i = 0; i < jumped_.size(); ++i) wishes_[jumped_[i]].proposal = shorter[i];
    before_.taken_back_end = now_;
    now_ = before_.now;
    due_ = before_.due;
  }
  system.release(before_.steps);
  return !jumped_.empty();
}

/// Appended to what is kept of others; the storage is that of the rendezvous before.
void F3ornits::keep(SubsystemId s) {
  const Member& member = members_[s];
  before_.changed.push_back(s);
  before_.progress.push_back(member);
  before_.wishes.push_back(wishes_[s]);
  for (const InputId input : member.inputs) before_.inputs.push_back(inputs_.of(input));
  for (const OutputId y : member.outputs) {
    before_.outputs.push_back(outputs_[y]);
    before_.estimates.push_back(estimates_[y]);
  }
}

void F3ornits::put_back_changed() {
  std::size_t input_at = 0;
  std::size_t output_at = 0;
  for (std::size_t i = 0; i < before_.changed.size(); ++i) {
    const SubsystemId s = before_.changed[i];
    static_cast<Progress&>(members_[s]) = before_.progress[i];
    wishes_[s] = before_.wishes[i];
    for (const InputId input : members_[s].inputs) inputs_.restore(input, before_.inputs[input_at++]);
    for (const OutputId y : members_[s].outputs) {
      outputs_[y] = before_.outputs[output_at];
      estimates_[y] = before_.estimates[output_at++];
    }
  }
}

MethodMemory F3ornits::memory() const {
  return {step_, {}, to_bytes(*this)};
}

void F3ornits::restore(const MethodMemory& memory) {
  from_bytes(memory.bytes, *this);
}

}  // namespace entrain
