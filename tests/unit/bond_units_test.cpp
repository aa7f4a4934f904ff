// Which connections exchange a power, by their units.
#include <gtest/gtest.h>

#include <memory>

#include "support/systems.hpp"
#include "support/test_models.hpp"

namespace entrain {
namespace bond_units_test {

/// y = u / 2 with units of its own: an effort on one side, a flow on the other.
class Side final : public test::StaticModel {
 public:
  Side(const std::string& input_unit, const std::string& output_unit)
      : StaticModel([](Time, double u) { return 0.5 * u + 1.0; }), table_(StaticModel::variables()) {
    table_.inputs[0].unit = input_unit;
    table_.outputs[0].unit = output_unit;
  }
  const VariableTable& variables() const noexcept override { return table_; }

 private:
  VariableTable table_;
};

std::vector<BondSummary> bonds_of(const std::string& effort, const std::string& flow) {
  const auto description = test::system_from(R"([run]
stop = 0.1
step = 0.1
[subsystems.source]
model = "source"
[subsystems.load]
model = "load"
[connections]
"source.y" = "load.u"
"load.y" = "source.u"
)");
  const ModelFactory models = [&](std::string_view name) -> std::unique_ptr<Model> {
    if (name == "source") return std::make_unique<Side>(flow, effort);
    return std::make_unique<Side>(effort, flow);
  };
  Simulation simulation(description, {}, models);
  return simulation.run().bonds;
}

TEST(BondUnits, of_translation_rotation_electricity_and_hydraulics_are_found) {
  const std::vector<std::pair<std::string, std::string>> pairs{
      {"N", "m/s"}, {"kg.m/s2", "m.s-1"}, {"N.m", "rad/s"}, {"N*m", "rad.s-1"},
      {"V", "A"},   {"W/A", "C/s"},       {"Pa", "m3/s"},   {"N/m2", "m^3/s"}};
  for (const auto& [effort, flow] : pairs) {
    const auto bonds = bonds_of(effort, flow);
    ASSERT_EQ(bonds.size(), 1U) << effort << ' ' << flow;
    EXPECT_EQ(bonds[0].effort, "source.y -> load.u") << effort;
    EXPECT_EQ(bonds[0].flow, "load.y -> source.u") << flow;
  }
}

TEST(BondUnits, whose_product_is_no_watt_make_no_bond) {
  // Temperature and heat flow: each is known, their product is none. K and W/K could be a temperature and a
  // conductance.
  const std::vector<std::pair<std::string, std::string>> pairs{
      {"K", "W"}, {"K", "W/K"}, {"N", "m"}, {"", ""}, {"furlong", "m/s"}};
  for (const auto& [effort, flow] : pairs) EXPECT_TRUE(bonds_of(effort, flow).empty()) << effort << ' ' << flow;
}

}  // namespace bond_units_test
}  // namespace entrain
