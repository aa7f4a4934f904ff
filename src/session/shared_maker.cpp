#include "session/shared_maker.hpp"

#include <algorithm>
#include <utility>

#include "base/quoting.hpp"
#include "entrain/fact_codes.hpp"
#include "ranks/distributed_subsystem.hpp"

namespace entrain::session {
namespace {

/// What a process made of one of its subsystems.
struct Made {
  std::unique_ptr<Subsystem> subsystem;
  std::vector<Problem> problems;
};

/// What is thrown here would be unknown to the others.
Made made_here(const assembly::SubsystemMaker& make, const SubsystemDescription& description,
               const std::map<std::string, Variable>& fed) {
  Made made;
  try {
    made.subsystem = make(description, fed, made.problems);
  } catch (const Error& error) {
    if (error.problems().empty()) {
      made.problems.push_back(problem_of(
          base::quoting({FactCode::SubsystemRefused, {description.name}}, error, error.what()), "", description.where));
    } else {
      made.problems = error.problems();
    }
  }
  return made;
}

class SharedMaker {
 public:
  SharedMaker(const SystemDescription& description, std::shared_ptr<ranks::DistributedSystem> system,
              assembly::SubsystemMaker make)
      : description_(description), system_(std::move(system)), make_(std::move(make)), made_(count()) {
    for (std::size_t s = 0; s < count(); ++s) {
      const auto& each = description_.subsystems[s];
      if (system_->is_here(SubsystemId{s}) && each.csv.empty()) made_[s] = made_here(make_, each, {});
    }
  }

  std::unique_ptr<Subsystem> make(const SubsystemDescription& of, const std::map<std::string, Variable>& fed,
                                  std::vector<Problem>& problems) {
    const auto& all = description_.subsystems;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == of.name; });
    const auto s = static_cast<std::size_t>(found - all.begin());
    Made& made = made_[s];
    if (system_->is_here(SubsystemId{s}) && !of.csv.empty()) made = made_here(make_, of, fed);
    auto shared = ranks::share_subsystem(system_, SubsystemId{s}, of.name, std::move(made.subsystem), made.problems);
    problems.insert(problems.end(), made.problems.begin(), made.problems.end());
    return shared;
  }

 private:
  std::size_t count() const { return description_.subsystems.size(); }

  const SystemDescription& description_;
  std::shared_ptr<ranks::DistributedSystem> system_;
  assembly::SubsystemMaker make_;
  std::vector<Made> made_;
};

}  // namespace

std::vector<int> ranks_of(const SystemDescription& description, const ranks::RankLink& link) {
  const auto& placement = link.placement();
  std::vector<int> ranks;
  for (std::size_t s = 0; s < description.subsystems.size(); ++s) {
    const auto& names = placement.subsystems;
    const auto known = std::find(names.begin(), names.end(), description.subsystems[s].name);
    ranks.push_back(known == names.end() ? static_cast<int>(s % static_cast<std::size_t>(link.size()))
                                         : placement.ranks[static_cast<std::size_t>(known - names.begin())]);
  }
  return ranks;
}

assembly::SubsystemMaker shared_maker(const SystemDescription& description,
                                      const std::shared_ptr<ranks::DistributedSystem>& system,
                                      assembly::SubsystemMaker make) {
  return [maker = std::make_shared<SharedMaker>(description, system, std::move(make))](
             const SubsystemDescription& of, const std::map<std::string, Variable>& fed,
             std::vector<Problem>& problems) { return maker->make(of, fed, problems); };
}

}  // namespace entrain::session
