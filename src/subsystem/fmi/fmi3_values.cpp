#include "subsystem/fmi/fmi3_values.hpp"

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "subsystem/fmi/fmi_text.hpp"

namespace entrain::subsystem {
namespace {

/// One element in the FMU's own type.
template <class T>
T plain(const FmuVariable& variable, const Value& value) {
  if constexpr (std::is_same_v<T, fmi3Float64>) {
    return std::get<double>(value);
  } else if constexpr (std::is_same_v<T, fmi3Float32>) {
    const double number = std::get<double>(value);
    if (!fits_float32(number)) refuse_float32(number, {{}, variable.name, {}, {}});
    return static_cast<fmi3Float32>(number);
  } else if constexpr (std::is_same_v<T, fmi3Boolean>) {
    return std::get<bool>(value);
  } else if constexpr (std::is_same_v<T, fmi3UInt64>) {
    return std::get<std::uint64_t>(value);
  } else if constexpr (std::is_same_v<T, fmi3String>) {
    return std::get<std::string>(value).c_str();
  } else {
    return checked_integer<T>(variable, value);
  }
}

template <class T>
Value as_value(T plain) {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(plain);
  } else if constexpr (std::is_same_v<T, fmi3Boolean> || std::is_same_v<T, fmi3UInt64>) {
    return plain;
  } else if constexpr (std::is_same_v<T, fmi3String>) {
    return std::string(plain == nullptr ? "" : plain);
  } else {
    return static_cast<std::int64_t>(plain);
  }
}

template <class T, class Symbol>
Fmi3Called set_as(const Symbol& symbol, const Fmi3Values::Callee& callee, const FmuVariable& variable,
                  std::span<const Value> values) {
  const auto buffer = std::make_unique<T[]>(values.size());  // a vector of bool is none of bools
  for (std::size_t i = 0; i < values.size(); ++i) buffer[i] = plain<T>(variable, values[i]);
  const T* first = buffer.get();
  return {symbol(callee.code, callee.instance, &variable.reference, std::size_t{1}, first, values.size()),
          symbol.name()};
}

template <class T, class Symbol>
Fmi3Called get_as(const Symbol& symbol, const Fmi3Values::Callee& callee, const FmuVariable& variable,
                  std::span<Value> values) {
  const auto buffer = std::make_unique<T[]>(values.size());
  const Fmi3Called called{
      symbol(callee.code, callee.instance, &variable.reference, std::size_t{1}, buffer.get(), values.size()),
      symbol.name()};
  const auto keep = [&] {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = as_value<T>(buffer[i]);
  };
  if constexpr (std::is_pointer_v<T>) {
    // The FMU says where they lie: what happens when they are read there is of the same call.
    if (called.status <= fmi3Warning) callee.code.call(symbol.name(), keep);
  } else {
    keep();
  }
  return called;
}

}  // namespace

Fmi3Called Fmi3Values::set(const Callee& callee, const FmuVariable& variable, std::span<const Value> values) const {
  switch (variable.type) {
    case FmuType::Float64: return set_as<fmi3Float64>(set_float64_, callee, variable, values);
    case FmuType::Float32: return set_as<fmi3Float32>(set_float32_, callee, variable, values);
    case FmuType::Int8: return set_as<fmi3Int8>(set_int8_, callee, variable, values);
    case FmuType::UInt8: return set_as<fmi3UInt8>(set_uint8_, callee, variable, values);
    case FmuType::Int16: return set_as<fmi3Int16>(set_int16_, callee, variable, values);
    case FmuType::UInt16: return set_as<fmi3UInt16>(set_uint16_, callee, variable, values);
    case FmuType::Int32: return set_as<fmi3Int32>(set_int32_, callee, variable, values);
    case FmuType::UInt32: return set_as<fmi3UInt32>(set_uint32_, callee, variable, values);
    case FmuType::UInt64: return set_as<fmi3UInt64>(set_uint64_, callee, variable, values);
    case FmuType::Boolean: return set_as<fmi3Boolean>(set_boolean_, callee, variable, values);
    case FmuType::String: return set_as<fmi3String>(set_string_, callee, variable, values);
    case FmuType::Binary: return set_binaries(callee, variable, values);
    default: return set_as<fmi3Int64>(set_int64_, callee, variable, values);  // enumerations too
  }
}

Fmi3Called Fmi3Values::get(const Callee& callee, const FmuVariable& variable, std::span<Value> values) const {
  switch (variable.type) {
    case FmuType::Float64: return get_as<fmi3Float64>(get_float64_, callee, variable, values);
    case FmuType::Float32: return get_as<fmi3Float32>(get_float32_, callee, variable, values);
    case FmuType::Int8: return get_as<fmi3Int8>(get_int8_, callee, variable, values);
    case FmuType::UInt8: return get_as<fmi3UInt8>(get_uint8_, callee, variable, values);
    case FmuType::Int16: return get_as<fmi3Int16>(get_int16_, callee, variable, values);
    case FmuType::UInt16: return get_as<fmi3UInt16>(get_uint16_, callee, variable, values);
    case FmuType::Int32: return get_as<fmi3Int32>(get_int32_, callee, variable, values);
    case FmuType::UInt32: return get_as<fmi3UInt32>(get_uint32_, callee, variable, values);
    case FmuType::UInt64: return get_as<fmi3UInt64>(get_uint64_, callee, variable, values);
    case FmuType::Boolean: return get_as<fmi3Boolean>(get_boolean_, callee, variable, values);
    case FmuType::String: return get_as<fmi3String>(get_string_, callee, variable, values);
    case FmuType::Binary: return get_binaries(callee, variable, values);
    default: return get_as<fmi3Int64>(get_int64_, callee, variable, values);
  }
}

Fmi3Called Fmi3Values::set_binaries(const Callee& callee, const FmuVariable& variable,
                                    std::span<const Value> values) const {
  std::vector<std::size_t> sizes;
  std::vector<fmi3Binary> binaries;
  for (const auto& value : values) {
    const auto& bytes = std::get<Binary>(value).bytes;
    sizes.push_back(bytes.size());
    binaries.push_back(bytes.data());
  }
  const std::size_t* first_size = sizes.data();
  const fmi3Binary* first = binaries.data();
  return {
      set_binary_(callee.code, callee.instance, &variable.reference, std::size_t{1}, first_size, first, values.size()),
      set_binary_.name()};
}

Fmi3Called Fmi3Values::get_binaries(const Callee& callee, const FmuVariable& variable, std::span<Value> values) const {
  std::vector<std::size_t> sizes(values.size(), 0);
  std::vector<fmi3Binary> binaries(values.size(), nullptr);
  const Fmi3Called called{get_binary_(callee.code, callee.instance, &variable.reference, std::size_t{1}, sizes.data(),
                                      binaries.data(), values.size()),
                          get_binary_.name()};
  if (called.status > fmi3Warning) return called;
  callee.code.call(get_binary_.name(), [&] {
    for (std::size_t i = 0; i < values.size(); ++i) {
      Binary binary;
      if (binaries[i] != nullptr) binary.bytes.assign(binaries[i], binaries[i] + sizes[i]);
      values[i] = std::move(binary);
    }
  });
  return called;
}

}  // namespace entrain::subsystem
