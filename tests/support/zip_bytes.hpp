#pragma once

#include <cstdint>
#include <string>

namespace entrain::test {

/// A zip archive written byte by byte (APPNOTE.TXT 6.3.9), so that it can lie in ways no library would write.
class ZipBytes {
 public:
  struct Entry {
    std::string name;
    std::string data = {};  ///< as it lies in the archive
    bool deflated = false;
    std::uint64_t size = 0;  ///< unpacked, as claimed; of data that are not deflated, their own size
    std::uint32_t unix_mode = 0100644;
  };

  void add(const Entry& entry) {
    const auto offset = static_cast<std::uint32_t>(files_.size());
    files_ += number(0x04034b50, 4) + common(entry) + entry.name + size64(entry) + entry.data;
    add_to_directory(entry, offset);
  }

  /// Entries 0000000, 0000001, ... that share the bytes of the first one: each costs its line in the directory alone.
  void add_aliases(std::uint64_t count) {
    const std::size_t first = directory_.size();
    add_to_directory({"0000000"}, 0);
    const std::string line = directory_.substr(first);
    directory_.reserve(first + count * line.size());
    for (std::uint64_t i = 1; i < count; ++i) {
      const std::string digits = std::to_string(i);
      directory_ += line;
      directory_.replace(directory_.size() - digits.size(), digits.size(), digits);
    }
    count_ += count - 1;
  }

  std::string finished() const {
    std::string bytes = files_ + directory_;
    const std::string where = number(files_.size(), 8);
    const std::string length = number(directory_.size(), 8);
    // ZIP64, in which there may be more than 65535 entries.
    const std::uint64_t end = bytes.size();
    bytes += number(0x06064b50, 4) + number(44, 8) + number(45, 2) + number(45, 2) + number(0, 8) + number(count_, 8) +
             number(count_, 8) + length + where;
    bytes += number(0x07064b50, 4) + number(0, 4) + number(end, 8) + number(1, 4);
    bytes += number(0x06054b50, 4) + number(0, 4) + number(0xffff, 2) + number(0xffff, 2) + number(0xffffffff, 4) +
             number(0xffffffff, 4) + number(0, 2);
    return bytes;
  }

 private:
  static std::string number(std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += static_cast<char>((value >> (8 * i)) & 0xffU);
    return text;
  }

  static bool is_large(const Entry& entry) { return entry.size > 0xfffffffe; }
  static std::string size64(const Entry& entry) {
    if (!is_large(entry)) return {};
    return number(1, 2) + number(16, 2) + number(entry.size, 8) + number(entry.data.size(), 8);
  }

  static std::uint32_t crc(const std::string& data) {
    std::uint32_t value = 0xffffffff;
    for (const char c : data) {
      value ^= static_cast<unsigned char>(c);
      for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) != 0 ? 0xedb88320 : 0);
    }
    return ~value;
  }

  /// What the local header and the directory share: up to the lengths of the name and of what follows it.
  static std::string common(const Entry& entry) {
    const bool large = is_large(entry);
    const std::uint64_t size = entry.deflated ? entry.size : entry.data.size();
    return number(large ? 45 : 20, 2) + number(0, 2) + number(entry.deflated ? 8 : 0, 2) + number(0, 2) +
           number(0x21, 2) + number(entry.deflated ? 0 : crc(entry.data), 4) +
           number(large ? 0xffffffff : entry.data.size(), 4) + number(large ? 0xffffffff : size, 4) +
           number(entry.name.size(), 2) + number(size64(entry).size(), 2);
  }

  void add_to_directory(const Entry& entry, std::uint32_t offset) {
    directory_ += number(0x02014b50, 4) + number(0x0314, 2) + common(entry) + number(0, 2) + number(0, 2) +
                  number(0, 2) + number(static_cast<std::uint64_t>(entry.unix_mode) << 16U, 4) + number(offset, 4) +
                  entry.name + size64(entry);
    ++count_;
  }

  std::string files_;
  std::string directory_;
  std::uint64_t count_ = 0;
};

/// Deflated zeros, 1032 for each byte: one block (RFC 1951) whose code has one bit for "the last byte 258 times more"
/// and one for "at distance 1", so that all but its head are zero bits.
inline std::string deflated_zeros(std::uint64_t count) {
  std::string bytes;
  int used = 0;
  const auto put = [&](unsigned value, int bits) {
    for (int i = 0; i < bits; ++i) {
      if (used % 8 == 0) bytes += '\0';
      if (((value >> i) & 1U) != 0) bytes.back() = static_cast<char>(bytes.back() | (1 << (used % 8)));
      ++used;
    }
  };
  put(1, 1);   // the last block
  put(2, 2);   // with codes of its own
  put(29, 5);  // 286 codes for literals and lengths
  put(0, 5);   // 1 for distances
  put(14, 4);  // 18 lengths of codes for lengths, in the order of the RFC: 18 has 1 bit, 2 and 1 have 2
  for (const unsigned length : {0U, 0U, 1U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 2U, 0U, 2U}) put(length, 3);
  const auto zeros = [&](unsigned number) {
    put(0, 1);
    put(number - 11, 7);
  };
  const auto two = [&] { put(3, 2); };  // the code 11; that of 1 is 10, its first bit first
  const auto one = [&] { put(1, 2); };
  two();  // literal 0
  zeros(138);
  zeros(117);  // literals 1 to 255
  two();       // end of block
  zeros(28);
  one();      // length 258
  one();      // distance 1
  put(1, 2);  // literal 0: the code 10
  const int head = used;
  while (used % 8 != 0) put(0, 1);
  bytes.append(count / 258 / 4, '\0');
  put(0, (used - head) % 2);  // matches have two bits
  put(3, 2);                  // the end
  return bytes;
}

}  // namespace entrain::test
