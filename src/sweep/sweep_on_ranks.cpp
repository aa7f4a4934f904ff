#include <fmt/format.h>

#include <atomic>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/facts/error_record.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/ranks.hpp"
#include "entrain/sweep.hpp"
#include "session/checkpoint_file.hpp"
#include "session/repeatable.hpp"
#include "sweep/case_host.hpp"
#include "sweep/rank_pool.hpp"
#include "sweep/sweep_run.hpp"

namespace entrain::sweeping {
namespace {

constexpr double kLongestSilence = 3600.0;  // s, unless the file says otherwise

/// A sweep by all processes of a launcher.
class RankedSweep {
 public:
  explicit RankedSweep(SweepTask task)
      : task_(std::move(task)), sweep_(checked(), with_jobs(), task_.extensions), host_(sweep_) {}

  const std::atomic<bool>* interrupt() const { return sweep_.options().interrupt; }

  int run(ranks::RankLink& link, const std::function<int(const SweepResult&)>& finish) {
    SweepLook look;
    base::from_bytes(link.from_first([&] { return look_by_host(); }), look);
    refuse_problems(look);
    compare(link);  // before rank 0's choices are those of all
    sweep_.adopt(look);
    std::optional<SweepRun> opened;
    const auto folder = link.from_first([&] {
      opened.emplace(sweep_, sweep_.note());
      return base::to_bytes(std::filesystem::absolute(opened->folder()).string());
    });
    std::string path;
    base::from_bytes(folder, path);
    host_.send(HostWord::Begin, base::to_bytes(look, path));
    const auto& timeout = sweep_.description().rank_timeout;
    const double limit = timeout ? timeout->value : kLongestSilence;
    if (!opened) {
      serve_first_rank(link, host_, limit);
      return 0;
    }
    RankPool pool(link, host_, jobs_of(sweep_.options()), limit);
    return finish(opened->run(pool));
  }

 private:
  const SystemDescription& checked() const {
    session::require_repeatable(task_.description, "sweep");
    return task_.description;
  }
  SweepOptions with_jobs() const {
    SweepOptions options = task_.options;
    if (options.jobs == 0) options.jobs = 1;  // the launcher has shared out the processors
    return options;
  }

  /// By the host: this process has MPI in its memory.
  base::Bytes look_by_host() {
    host_.send(HostWord::Look, {});
    for (;;) {
      if (const auto frame = host_.receive(kLongestWait)) {
        if (static_cast<HostWord>(frame->kind) == HostWord::Found) return frame->bytes;
        base::ErrorRecord record;
        base::from_bytes(frame->bytes, record);
        throw record.error();
      }
      const char* how = host_.has_ended() ? "without an answer" : sweep_.is_interrupted() ? "interrupted" : nullptr;
      if (how != nullptr) throw Error(ErrorCode::SubsystemFailed, {FactCode::SweepCaseEnded, {}, {{"how", how}}});
    }
  }

  /// All would make the same cases of the same files. Throws the same error everywhere.
  void compare(ranks::RankLink& link) const {
    const auto own = session::identity_of(sweep_.description(), sweep_.extensions(), nullptr);
    const auto all = link.gather(base::to_bytes(own, sweep_.plan().text));
    session::SystemIdentity first;
    std::string cases_of_first;
    base::from_bytes(all[0], first, cases_of_first);
    for (std::size_t r = 1; r < all.size(); ++r) {
      session::SystemIdentity there;
      std::string cases;
      base::from_bytes(all[r], there, cases);
      const bool same_system = there.text == first.text && there.files == first.files;
      if (same_system && cases == cases_of_first) continue;
      const std::string what = same_system ? "other cases" : session::difference(first, there);
      throw Error(ErrorCode::InvalidSystem,
                  {FactCode::RanksDiffer, {link.peers()[r].host, link.peers()[0].host}, {{"rank", r}, {"what", what}}},
                  {.subsystem = {},
                   .variable = {},
                   .time = {},
                   .remedy = "Use a file system that all nodes see, or copy the same files everywhere"});
    }
  }

  SweepTask task_;
  PreparedSweep sweep_;
  CaseHost host_;
};

}  // namespace
}  // namespace entrain::sweeping

namespace entrain {

int sweep_on_ranks(const std::function<SweepTask()>& prepare, const std::function<int(const SweepResult&)>& finish) {
  std::unique_ptr<sweeping::RankedSweep> sweep;
  std::exception_ptr refused;
  try {
    sweep = std::make_unique<sweeping::RankedSweep>(prepare());
  } catch (const std::exception&) {
    refused = std::current_exception();  // printed by the first process alone
  }
  Ranks ranks(sweep ? sweep->interrupt() : nullptr);
  return ranks.take_part([&] {
    if (refused) std::rethrow_exception(refused);
    return sweep->run(ranks.link(), finish);
  });
}

}  // namespace entrain
