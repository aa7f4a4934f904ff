#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace entrain::numerics {

/// How the residual r = g(z) - z of a fixed point changed with g(z), evaluation by evaluation: the columns of IQN-ILS
/// (J. Degroote, K.-J. Bathe, J. Vierendeels: "Performance of a new partitioned procedure versus a monolithic procedure
/// in fluid-structure interaction", 2009), kept over solves. Newest first; older ones that add no direction are left
/// out.
class InterfaceColumns {
 public:
  explicit InterfaceColumns(std::size_t unknowns);

  /// A new solve begins: differences are not taken across.
  void begin();
  /// An evaluation: its residual and its image, both scaled. Afterwards `next` is where to evaluate next.
  void evaluated(std::span<const double> residual, std::span<const double> image, std::span<double> next);
  void clear();

  struct Memory {
    std::vector<double> residuals, images;  ///< differences, column by column, the newest first
    std::size_t count = 0;

    template <class Visitor>
    void fields(Visitor& visit) {
      visit(residuals, images, count);
    }
  };
  const Memory& memory() const { return memory_; }
  void restore(const Memory& memory) { memory_ = memory; }

 private:
  void add_difference(std::span<const double> residual, std::span<const double> image);

  std::size_t unknowns_, most_;
  bool evaluated_ = false;   // in this solve
  std::size_t of_this_ = 0;  // columns of this solve
  double last_norm_ = 0.0;
  std::vector<double> last_residual_, last_image_;
  std::vector<double> basis_, triangle_, rest_, weights_;  // of the decomposition
  std::vector<std::size_t> used_;
  Memory memory_;
};

}  // namespace entrain::numerics
