#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "entrain/error.hpp"
#include "entrain/fact_codes.hpp"
#include "entrain/ids.hpp"
#include "entrain/variable.hpp"

namespace entrain::base {

using Bytes = std::vector<std::byte>;

static_assert(std::endian::native == std::endian::little, "bytes are written as they lie in memory: little endian");

/// More than what it remembers, which is a value of its own.
template <class T>
concept RemembersValue = requires(T& own, const typename T::Memory& memory) {
  own.memory();
  own.restore(memory);
};

/// Writes values one after the other. A struct lists its members once, for both directions:
///
///     template <class Visitor>
///     void fields(Visitor& visit) { visit(time, values); }
///
/// (or `visit_fields(visitor, value)` beside it, where the struct is not ours to change). An object that is more than
/// what it remembers is written by its memory: `const Memory& memory() const` and `void restore(const Memory&)`.
class ByteWriter {
 public:
  template <class... Values>
  void operator()(const Values&... values) {
    (write(values), ...);
  }
  Bytes take() { return std::move(bytes_); }

 private:
  void append(const void* first, std::size_t size) {
    const std::size_t end = bytes_.size();
    bytes_.resize(end + size);
    if (size > 0) std::memcpy(bytes_.data() + end, first, size);
  }
  void write_size(std::size_t size) { write(std::uint64_t{size}); }

  template <class T>
  void write(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      write(static_cast<std::uint8_t>(value ? 1 : 0));
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::byte>) {
      append(&value, sizeof value);
    } else if constexpr (std::is_enum_v<T>) {
      write(static_cast<std::underlying_type_t<T>>(value));
    } else if constexpr (RemembersValue<T>) {
      write(value.memory());
    } else if constexpr (requires(T & own) { own.fields(*this); }) {
      const_cast<T&>(value).fields(*this);  // NOLINT: this visitor changes nothing
    } else {
      visit_fields(*this, const_cast<T&>(value));  // NOLINT: likewise
    }
  }
  template <class Tag>
  void write(const Id<Tag>& id) {
    write_size(id);
  }
  void write(const std::string& text) {
    write_size(text.size());
    append(text.data(), text.size());
  }
  void write(const Binary& binary) { write(binary.bytes); }
  template <class T>
  void write(const std::vector<T>& values) {
    write_size(values.size());
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::byte>) {
      append(values.data(), values.size() * sizeof(T));
    } else {
      for (const auto& value : values) write(value);
    }
  }
  template <class T>
  void write(const std::deque<T>& values) {
    write_size(values.size());
    for (const auto& value : values) write(value);
  }
  template <class T, std::size_t N>
  void write(const std::array<T, N>& values) {
    for (const auto& value : values) write(value);
  }
  template <class T>
  void write(const std::optional<T>& value) {
    write(value.has_value());
    if (value) write(*value);
  }
  template <class A, class B>
  void write(const std::pair<A, B>& both) {
    write(both.first);
    write(both.second);
  }
  template <class... T>
  void write(const std::tuple<T...>& all) {
    std::apply([this](const auto&... each) { (this->write(each), ...); }, all);
  }
  template <class K, class V>
  void write(const std::map<K, V>& entries) {
    write_size(entries.size());
    for (const auto& [key, value] : entries) {
      write(key);
      write(value);
    }
  }
  template <class... T>
  void write(const std::variant<T...>& value) {
    write(static_cast<std::uint8_t>(value.index()));
    std::visit([this](const auto& held) { this->write(held); }, value);
  }

  Bytes bytes_;
};

/// Reads what a ByteWriter wrote, into values of the same types. Throws Error{FileFailed} for bytes that end too early.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class... Values>
  void operator()(Values&... values) {
    (read(values), ...);
  }
  bool at_end() const { return rest_.empty(); }

 private:
  [[noreturn]] static void refuse() { throw Error(ErrorCode::FileFailed, {FactCode::SavedDataForeign}); }
  std::span<const std::byte> next(std::size_t size) {
    if (size > rest_.size()) refuse();
    const auto part = rest_.first(size);
    rest_ = rest_.subspan(size);
    return part;
  }
  void copy(void* to, std::size_t size) {
    const auto part = next(size);
    if (size > 0) std::memcpy(to, part.data(), size);
  }
  /// Every element takes a byte at least, so that no size leads to more memory than there are bytes.
  std::size_t read_size() {
    std::uint64_t size = 0;
    copy(&size, sizeof size);
    if (size > rest_.size()) refuse();
    return size;
  }

  template <class T>
  void read(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      value = std::to_integer<int>(next(1)[0]) != 0;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::byte>) {
      copy(&value, sizeof value);
    } else if constexpr (std::is_enum_v<T>) {
      std::underlying_type_t<T> number{};
      read(number);
      value = static_cast<T>(number);
    } else if constexpr (RemembersValue<T>) {
      typename T::Memory memory;
      read(memory);
      value.restore(memory);
    } else if constexpr (requires(T & own) { own.fields(*this); }) {
      value.fields(*this);
    } else {
      visit_fields(*this, value);
    }
  }
  template <class Tag>
  void read(Id<Tag>& id) {
    std::uint64_t number = 0;
    copy(&number, sizeof number);
    id = Id<Tag>{number};
  }
  void read(std::string& text) {
    text.resize(read_size());
    copy(text.data(), text.size());
  }
  void read(Binary& binary) { read(binary.bytes); }
  template <class T>
  void read(std::vector<T>& values) {
    const std::size_t size = read_size();
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::byte>) {
      if (size > rest_.size() / sizeof(T)) refuse();
      values.resize(size);
      copy(values.data(), size * sizeof(T));
    } else {
      values.resize(size);
      for (auto& value : values) read(value);
    }
  }
  template <class T>
  void read(std::deque<T>& values) {
    values.resize(read_size());
    for (auto& value : values) read(value);
  }
  template <class T, std::size_t N>
  void read(std::array<T, N>& values) {
    for (auto& value : values) read(value);
  }
  template <class T>
  void read(std::optional<T>& value) {
    bool known = false;
    read(known);
    value.reset();
    if (!known) return;
    T present{};
    read(present);
    value = std::move(present);
  }
  template <class A, class B>
  void read(std::pair<A, B>& both) {
    read(both.first);
    read(both.second);
  }
  template <class... T>
  void read(std::tuple<T...>& all) {
    std::apply([this](auto&... each) { (this->read(each), ...); }, all);
  }
  template <class K, class V>
  void read(std::map<K, V>& entries) {
    entries.clear();
    for (std::size_t left = read_size(); left > 0; --left) {
      K key{};
      read(key);
      read(entries[key]);
    }
  }
  template <class... T>
  void read(std::variant<T...>& value) {
    std::uint8_t index = 0;
    read(index);
    if (index >= sizeof...(T)) refuse();
    read_alternative(value, index, std::index_sequence_for<T...>());
  }
  template <class Variant, std::size_t... I>
  void read_alternative(Variant& value, std::size_t index, std::index_sequence<I...>) {
    ((I == index ? read(value.template emplace<I>()) : void()), ...);
  }

  std::span<const std::byte> rest_;
};

template <class... Values>
Bytes to_bytes(const Values&... values) {
  ByteWriter writer;
  writer(values...);
  return writer.take();
}

/// Throws Error{FileFailed} unless these are the bytes of exactly such values.
template <class... Values>
void from_bytes(std::span<const std::byte> bytes, Values&... values) {
  ByteReader reader(bytes);
  reader(values...);
  if (!reader.at_end()) {
    throw Error(ErrorCode::FileFailed, {FactCode::SavedDataForeign});
  }
}

}  // namespace entrain::base
