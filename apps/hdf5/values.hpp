#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "entrain/variable.hpp"
#include "hdf5/support.hpp"

namespace entrain::hdf5 {

/// Values that are no real numbers, as HDF5 takes them: integers of 64 bits, booleans as integers of 8 bits, texts,
/// bytes as hexadecimal texts. Nothing is rounded.
class Hdf5Values {
 public:
  explicit Hdf5Values(ValueType type);

  const Hdf5Object& type() const { return type_; }  ///< in the file and in memory
  std::size_t count() const { return count_; }
  void clear();
  void add(const Value& value);
  const void* data();

 private:
  ValueType value_type_;
  Hdf5Object type_;
  std::size_t count_ = 0;
  std::vector<std::byte> numbers_;
  std::vector<std::string> texts_;
  std::vector<const char*> pointers_;  ///< to them
};

}  // namespace entrain::hdf5
