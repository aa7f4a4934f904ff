#pragma once

#include <cstddef>

namespace entrain {

/// A number that cannot be mistaken for another kind of number: an OutputId is not accepted where an InputId is meant.
template <class Tag>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::size_t value) : value_(value) {}
  constexpr operator std::size_t() const { return value_; }  // NOLINT(google-explicit-constructor): ids index arrays

 private:
  std::size_t value_ = 0;
};

using SubsystemId = Id<struct SubsystemTag>;  ///< in the order of the system file
using InputId = Id<struct InputTag>;          ///< over all subsystems, in their order
using OutputId = Id<struct OutputTag>;        ///< over all subsystems, in their order

/// Consecutive ids: the ports of one subsystem.
template <class IdType>
struct IdRange {
  std::size_t first = 0;
  std::size_t count = 0;

  struct Iterator {
    std::size_t at;
    IdType operator*() const { return IdType{at}; }
    Iterator& operator++() {
      ++at;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at != other.at; }
  };
  Iterator begin() const { return {first}; }
  Iterator end() const { return {first + count}; }
};

}  // namespace entrain
