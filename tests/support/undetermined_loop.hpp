#pragma once

#include "support/systems.hpp"
#include "support/test_models.hpp"

namespace entrain::test {

/// Two subsystems y = u that feed each other: any value solves their loop.
class UndeterminedLoop {
 public:
  explicit UndeterminedLoop(const Change& change)
      : simulation_(changed(system_from(R"(
          [run]
          stop = 1.0
          [subsystems.a]
          model = "same"
          [subsystems.b]
          model = "same"
          [connections]
          "a.y" = "b.u"
          "b.y" = "a.u"
        )"),
                            change),
                    {},
                    [](std::string_view) { return std::make_unique<StaticModel>([](Time, double u) { return u; }); }) {}

  const RunSummary& run() { return simulation_.run(); }

 private:
  Simulation simulation_;
};

}  // namespace entrain::test
