#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <memory>
#include <utility>

#include "base/facts/error_record.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/ranks.hpp"
#include "entrain/sweep.hpp"
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
    const auto found = link.from_first([&] { return look(); });
    SweepLook look;
    base::from_bytes(found, look);
    sweep_.adopt(look);
    const SweepNote note = sweep_.note();
    compare(link, note);
    std::optional<SweepRun> opened;
    const auto folder = link.from_first([&] {
      opened.emplace(sweep_, note);
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
  base::Bytes look() {
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
  static void compare(ranks::RankLink& link, const SweepNote& note) {
    const auto all = link.gather(base::to_bytes(note.identity, note.hashes));
    std::string first;
    std::vector<std::pair<std::string, std::string>> of_first;
    base::from_bytes(all[0], first, of_first);
    for (std::size_t r = 1; r < all.size(); ++r) {
      std::string identity;
      std::vector<std::pair<std::string, std::string>> hashes;
      base::from_bytes(all[r], identity, hashes);
      if (identity == first) continue;
      std::string what = "the quantities";
      for (const auto& hash : hashes) {
        if (std::find(of_first.begin(), of_first.end(), hash) != of_first.end()) continue;
        what = fmt::format("other content of '{}'", hash.first);
        if (hash.first == "system" || hash.first == "cases") what = fmt::format("the {}", hash.first);
      }
      throw Error(ErrorCode::InvalidSystem,
                  {FactCode::RanksDiffer, {link.peers()[r].host, link.peers()[0].host}, {{"rank", r}, {"what", what}}});
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
