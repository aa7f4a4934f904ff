#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "sweep/case_process.hpp"
#include "sweep/case_runner.hpp"

namespace entrain::sweeping {

inline constexpr int kLongestWait = 100;  // ms, so that an interruption is seen

/// How a case ended.
struct CaseEnd {
  std::size_t number = 0;
  base::Bytes answer;   ///< a CaseAnswer; empty: its process ended without one
  std::string how;      ///< it did then
  bool killed = false;  ///< not by the case: it may be made once more
  std::size_t rank = 0;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(number, answer, how, killed, rank);
  }
};

/// Where cases are made.
class CasePool {
 public:
  virtual ~CasePool() = default;
  /// Cases that it would begin at once.
  virtual std::size_t free() const = 0;
  virtual void take(std::size_t number) = 0;
  /// Cases that have ended; waits for one, but not longer than kLongestWait. Throws Error where no case can be made any
  /// more.
  virtual std::vector<CaseEnd> wait() = 0;
  /// Takes no case any more. What has ended meanwhile; those that are under way are dropped.
  virtual std::vector<CaseEnd> close() { return {}; }
  /// Another process of the sweep was asked to end.
  virtual bool is_interrupted() const { return false; }
  /// The processes of a launcher; empty without one.
  virtual std::vector<SweepRank> ranks() const { return {}; }
};

/// Copies of this process, up to `jobs` at the same time.
class ProcessPool final : public CasePool {
 public:
  ProcessPool(const CaseContext& context, std::size_t jobs) : context_(context), jobs_(jobs) {}
  std::size_t free() const override { return jobs_ - busy_; }
  void take(std::size_t number) override;
  std::vector<CaseEnd> wait() override { return wait_also_for(-1); }
  /// As `wait`; ends as soon as the descriptor can be read, too.
  std::vector<CaseEnd> wait_also_for(int descriptor);

 private:
  struct Worker {
    std::unique_ptr<CaseProcess> process;
    bool busy = false;
  };
  static CaseEnd end_of(CaseProcess& process);

  const CaseContext& context_;
  std::size_t jobs_;
  std::size_t busy_ = 0;
  std::unique_ptr<CaseRunner> runner_;  ///< of the process that is being made
  std::vector<Worker> workers_;
};

/// As SweepOptions::jobs says: 0 is one for each processor.
std::size_t jobs_of(const SweepOptions& options);

}  // namespace entrain::sweeping
