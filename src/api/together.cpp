#include "api/together.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "api/fmus_apart.hpp"
#include "api/placement.hpp"
#include "base/bytes.hpp"
#include "base/facts/fact_bytes.hpp"
#include "base/long_calls.hpp"
#include "base/private_folder.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/system.hpp"
#include "ranks/placement.hpp"
#include "ranks/rank_link.hpp"
#include "session/checkpoint_file.hpp"
#include "session/shared_maker.hpp"
#include "subsystem/fmi/fmu_subsystem.hpp"

namespace entrain::api {
namespace {

/// What "auto" puts in its place, without the places where it was written.
struct Chosen {
  std::string method;
  SourcePosition method_where;
  std::map<std::string, std::map<std::string, OptionValue>> options;
  std::optional<double> step;
  std::vector<Fact> notes, reasons;
  double calls = 0.0, run_calls = 0.0;
  bool meets = false;
  ranks::RankLink::Placement placement;

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(method, method_where, options, step, notes, reasons, calls, run_calls, meets, placement);
  }
};

Chosen chosen(const advising::MethodChoice& choice, ranks::RankLink::Placement placement) {
  Chosen all;
  all.method = choice.description.method.value;
  all.method_where = choice.description.method.where;
  for (const auto& [method, options] : choice.description.method_options) {
    for (const auto& [name, written] : options) all.options[method][name] = written.value;
  }
  if (choice.description.step) all.step = choice.description.step->value;
  all.notes = choice.notes;
  all.reasons = choice.reasons;
  all.calls = choice.calls;
  all.run_calls = choice.run_calls;
  all.meets = choice.meets;
  all.placement = std::move(placement);
  return all;
}

/// Written where the first rank found it written: the same file, or the choice.
advising::MethodChoice as_choice(const Chosen& all, SystemDescription description) {
  description.method = {all.method, all.method_where};
  for (const auto& [method, options] : all.options) {
    auto& known = description.method_options[method];
    for (const auto& [name, value] : options) {
      const auto place = known.find(name);
      known[name] = {value, place == known.end() ? SourcePosition{} : place->second.where};
    }
  }
  if (all.step) description.step = {*all.step, description.step ? description.step->where : SourcePosition{}};
  return {std::move(description), all.notes, all.reasons, all.calls, all.run_calls, all.meets};
}

ranks::RankLink::Placement placement_of(const SystemDescription& description, const ranks::RankLink& link,
                                        const Extensions& extensions) {
  const auto plan =
      plan_placement(description, static_cast<std::size_t>(link.size()), extensions, link.interrupt_here());
  ranks::RankLink::Placement placement;
  for (const auto& place : plan.places) {
    placement.subsystems.push_back(place.subsystem);
    placement.ranks.push_back(static_cast<int>(place.rank));
  }
  placement.by = plan.by;
  return placement;
}

/// Whether it is one of this system: of runs after the first one, such as companions.
bool places(const ranks::RankLink::Placement& placement, const SystemDescription& description) {
  const auto& all = description.subsystems;
  if (placement.subsystems.size() != all.size()) return false;
  for (std::size_t s = 0; s < all.size(); ++s) {
    if (placement.subsystems[s] != all[s].name) return false;
    const auto given = description.placement.find(all[s].name);
    if (given != description.placement.end() && given->second.value != placement.ranks[s]) return false;
  }
  return true;
}

/// What a process knows of the system.
struct KnownSystem {
  session::SystemIdentity identity;
  std::string unread;  ///< why its files could not be read

  template <class Visitor>
  void fields(Visitor& visit) {
    visit(identity, unread);
  }
};

/// A file that none can read is reported, with its place, when its subsystem is made.
KnownSystem known_system(const SystemDescription& description, const Extensions& extensions, const Learned* learned) {
  try {
    return {session::identity_of(resolved(description, extensions), extensions, learned), {}};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

std::string hash_text(const session::SystemIdentity& identity) {
  std::string text = identity.text;
  for (const auto& [file, hash] : identity.files) text += "\n" + file + " " + hash;
  return text;
}

/// Whether a process before this one reads the same file on the same node.
bool is_read_by_another(ranks::RankLink& link, const SystemDescription& description) {
  std::error_code unknown;
  const auto& node = link.peers()[static_cast<std::size_t>(link.rank())].node;
  const auto own = base::to_bytes(node, std::filesystem::absolute(description.file, unknown).string());
  const auto all = link.gather(own);
  return std::find(all.begin(), all.end(), own) - all.begin() < link.rank();
}

/// Of processes that read the same files one hashes them.
void compare_systems(ranks::RankLink& link, const SystemDescription& description, const Extensions& extensions,
                     const Learned* learned) {
  base::Bytes own;
  if (!is_read_by_another(link, description)) {
    own = base::to_bytes(known_system(description, extensions, learned));
  }
  const auto all = link.gather(own);
  KnownSystem first;
  base::from_bytes(all[0], first);
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r].empty()) continue;
    KnownSystem there;
    base::from_bytes(all[r], there);
    if (there.unread == first.unread && hash_text(there.identity) == hash_text(first.identity)) continue;
    const std::string& unread = there.unread.empty() ? first.unread : there.unread;
    throw Error(
        ErrorCode::InvalidSystem,
        {FactCode::RanksDiffer,
         {link.peers()[r].host, link.peers()[0].host},
         {{"rank", r}, {"what", unread.empty() ? session::difference(first.identity, there.identity) : unread}}},
        {.subsystem = {},
         .variable = {},
         .time = {},
         .remedy = "Use a file system that all nodes see, or copy the same files everywhere"});
  }
}

/// By the first process of each node, in a folder that goes with it; the others take them from there.
void unpack_fmus(ranks::RankLink& link, const SystemDescription& description) {
  static std::optional<base::PrivateFolder> folder;  // until the process ends
  std::map<std::string, std::string> unpacked;
  if (link.rank() == link.first_here()) {
    for (const auto& subsystem : description.subsystems) {
      if (subsystem.fmu.empty() || unpacked.contains(subsystem.fmu)) continue;
      try {
        if (!folder) folder.emplace();
        const auto place = folder->content() / fmt::format("fmu-{}", unpacked.size() + 1);
        subsystem::unpack_fmu(subsystem.fmu, place);
        unpacked[subsystem.fmu] = place.string();
      } catch (const Error&) {  // NOLINT(bugprone-empty-catch): reported when the subsystem is made
      }
    }
  }
  const auto all = link.gather(base::to_bytes(unpacked));
  base::from_bytes(all[static_cast<std::size_t>(link.first_here())], link.fmu_folders());
}

}  // namespace

advising::MethodChoice choose_together(const SystemDescription& description, const Extensions& extensions,
                                       const advising::SearchBudget& budget, const RunOptions& options) {
  if (options.ranks == nullptr) return advising::choose_method(description, extensions, budget);
  // No FMU may take the first rank along: it reports what became of the run.
  const SystemDescription apart = with_fmus_as_on_ranks(description);
  if (options.ranks->size() == 1)
    return as_choice(chosen(advising::choose_method(apart, extensions, budget), {}), description);
  ranks::RankLink& link = options.ranks->link();
  const auto bytes = link.from_first([&] {
    advising::SearchBudget here = budget;
    here.interrupt = link.interrupt_here();
    const auto choice = advising::choose_method(apart, extensions, here);
    auto placement = link.placement();
    if (!places(placement, choice.description)) placement = placement_of(choice.description, link, extensions);
    return base::to_bytes(chosen(choice, std::move(placement)));
  });
  Chosen all;
  base::from_bytes(bytes, all);
  link.place(all.placement);
  return as_choice(all, description);
}

std::vector<Fact> agree(Ranks& ranks, const SystemDescription& description, const Extensions& extensions,
                        const RunOptions& options) {
  ranks::RankLink& link = ranks.link();
  if (description.rank_timeout) link.set_limit(description.rank_timeout->value);
  compare_systems(link, description, extensions, options.learned);
  unpack_fmus(link, resolved(description, extensions));
  return ranks.size() == 1 ? std::vector<Fact>{} : ranks::about_processors(link.peers());
}

std::vector<RankSummary> rank_summaries(Ranks& ranks, const SystemDescription& description) {
  ranks::RankLink& link = ranks.link();
  std::vector<RankSummary> summaries;
  if (ranks.size() == 1) return summaries;
  try {
    const auto all = link.gather(base::to_bytes(link.busy(), link.waiting()));
    for (std::size_t r = 0; r < all.size(); ++r) {
      auto& summary = summaries.emplace_back();
      summary.host = link.peers()[r].host;
      base::from_bytes(all[r], summary.busy, summary.waiting);
    }
  } catch (const Error&) {  // they have parted
    return {};
  }
  const auto places = session::ranks_of(description, link);
  for (std::size_t s = 0; s < places.size(); ++s) {
    summaries[static_cast<std::size_t>(places[s])].subsystems.push_back(description.subsystems[s].name);
  }
  return summaries;
}

void share_longest_call(Ranks& ranks, RunSummary& summary) {
  const auto is_one = [](const Fact& note) { return note.code == FactCode::CallTakesLong; };
  const auto own = std::find_if(summary.notes.begin(), summary.notes.end(), is_one);
  base::LongestCall longest;
  try {
    const auto all = ranks.link().gather(
        base::to_bytes(own == summary.notes.end() ? std::optional<Fact>() : std::optional<Fact>(*own)));
    for (std::size_t r = 0; r < all.size(); ++r) {
      std::optional<Fact> there;
      base::from_bytes(all[r], there);
      if (!there) continue;
      there->values.emplace_back("rank", r);
      longest.keep(*there);
    }
  } catch (const Error&) {  // they have parted
    return;
  }
  std::erase_if(summary.notes, is_one);
  if (auto call = longest.take()) summary.notes.push_back(std::move(*call));
}

}  // namespace entrain::api
