#include "hdf5/values.hpp"

#include <cstring>

#include "base/values.hpp"

namespace entrain::hdf5 {
namespace {

Hdf5Object stored_type(ValueType type) {
  switch (type) {
    case ValueType::Real: return {H5Tcopy(H5T_NATIVE_DOUBLE), H5Tclose};
    case ValueType::Integer: return {H5Tcopy(H5T_NATIVE_INT64), H5Tclose};
    case ValueType::Unsigned: return {H5Tcopy(H5T_NATIVE_UINT64), H5Tclose};
    case ValueType::Boolean: return {H5Tcopy(H5T_NATIVE_INT8), H5Tclose};
    case ValueType::String:
    case ValueType::Binary: break;
  }
  return hdf5_text();
}

bool is_text(ValueType type) {
  return type == ValueType::String || type == ValueType::Binary;
}

struct Append {
  std::vector<std::byte>& to;

  template <class T>
  void operator()(const T& number) const {
    const std::size_t before = to.size();
    to.resize(before + sizeof number);
    std::memcpy(to.data() + before, &number, sizeof number);
  }
  void operator()(bool yes) const { (*this)(static_cast<std::int8_t>(yes)); }
  void operator()(const std::string&) const {}
  void operator()(const Binary&) const {}
};

}  // namespace

Hdf5Values::Hdf5Values(ValueType type) : value_type_(type), type_(stored_type(type)) {}

void Hdf5Values::clear() {
  count_ = 0;
  numbers_.clear();
  texts_.clear();
}

void Hdf5Values::add(const Value& value) {
  ++count_;
  if (is_text(value_type_)) {
    texts_.push_back(value_text(value));
  } else {
    std::visit(Append{numbers_}, value);
  }
}

const void* Hdf5Values::data() {
  if (!is_text(value_type_)) return numbers_.data();
  pointers_.clear();
  for (const auto& text : texts_) pointers_.push_back(text.c_str());
  return pointers_.data();
}

}  // namespace entrain::hdf5
