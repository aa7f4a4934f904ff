#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "entrain/graph.hpp"
#include "entrain/subsystem.hpp"

namespace entrain::method {

/// Plans when each subsystem communicates, with steps of its own: the scheduler of F3ORNITS, which the paper leaves
/// open (docs/theory/f3ornits.md).
///
/// Each subsystem has one step under way. The earliest end of all steps is the next synchronization point. Subsystems
/// whose steps end there plan their next step. One that may choose its step ends it where a connected one does.
class StepScheduler {
 public:
  struct Constraints {
    std::optional<Duration> imposed;  ///< it communicates at start + offset + k * imposed, and nowhere else
    Duration offset = 0.0;
    Duration min_step = 0.0;  ///< requested; > 0 unless imposed. Only the last step of the run may have to be shorter
    Duration max_step = kNever;
    Duration shortest = 0.0;  ///< possible at all: with less than that before the stop it makes no step
  };
  /// What one subsystem requests for its next step.
  struct Request {
    Duration proposal = kNever;  ///< by its step control
    Time event = kNever;         ///< announced for its inputs or outputs

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(proposal, event);
    }
  };

  void start(const Graph& graph, std::vector<Constraints> constraints, Time start, Time stop);

  /// The ends of the steps that `due` begin now; `requests` by subsystem.
  void plan(Time now, std::span<const SubsystemId> due, std::span<const Request> requests);
  /// The next synchronization point and, in their order, the subsystems whose steps end there. kNever when no step is
  /// under way: no subsystem can make another step before the stop time.
  Time next(std::vector<SubsystemId>& due);
  /// As before the latest `plan` (of `begun`) and `next` (`ended`).
  void take_back(std::span<const SubsystemId> begun, std::span<const SubsystemId> ended);

  Time end(SubsystemId s) const { return memory_.end[s]; }
  /// It reads other subsystems and none reads it: it can wait until its inputs are known.
  bool only_reads(SubsystemId s) const { return only_reads_[s] != 0; }
  std::span<const SubsystemId> sources(SubsystemId s) const { return list(sources_, s); }

  struct Memory {
    std::vector<Time> end;                            ///< of the step under way; kNever if none
    std::vector<std::uint64_t> count;                 ///< communication times of an imposed step so far
    std::vector<std::pair<Time, std::size_t>> queue;  ///< a heap, the earliest end on top

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(end, count, queue);
    }
  };
  const Memory& memory() const { return memory_; }
  void restore(const Memory& memory) { memory_ = memory; }

 private:
  /// Ids by subsystem, one list behind the other.
  struct Lists {
    std::vector<std::size_t> first;
    std::vector<SubsystemId> ids;
  };
  static std::span<const SubsystemId> list(const Lists& lists, SubsystemId s) {
    return {lists.ids.data() + lists.first[s], lists.first[s + 1] - lists.first[s]};
  }
  static Lists make_lists(std::vector<std::vector<SubsystemId>>& ids);

  bool chooses(SubsystemId s) const { return !constraints_[s].imposed && only_reads_[s] == 0; }
  Time imposed_end(SubsystemId s);
  Time chosen_end(SubsystemId s, Time now, const Request& request) const;
  Time reading_end(SubsystemId s, Time now, const Request& request) const;
  Time even_end(SubsystemId s, Time now, Duration step) const;
  bool can_step(SubsystemId s, Time now) const;
  bool rest_fits(SubsystemId s, Duration rest) const;
  bool may_end(SubsystemId s, Time now, Time end) const;
  void synchronize(Time now);

  std::vector<Constraints> constraints_;
  Lists sources_;     // subsystems that it reads
  Lists neighbours_;  // subsystems that it reads or that read it, without those that only read
  std::vector<unsigned char> only_reads_;
  Time start_ = 0.0;
  Time stop_ = 0.0;
  Memory memory_;
  std::vector<unsigned char> planning_;  // per subsystem: 1 = chooses its end now, 2 = has chosen
  std::vector<SubsystemId> choosing_;
  std::vector<SubsystemId> group_;
};

}  // namespace entrain::method
