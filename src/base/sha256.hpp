#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace entrain::base {

/// SHA-256 (FIPS 180-4): shows whether two files are the same, without keeping one. Written here because a library of
/// cryptography for this one function would be the largest of our dependencies.
class Sha256 {
 public:
  using Digest = std::array<std::byte, 32>;

  /// Those of the processor for this sum, if it has any; the result is the same.
  static bool has_instructions();
  explicit Sha256(bool by_instructions = has_instructions()) : by_instructions_(by_instructions) {}

  void add(std::span<const std::byte> bytes);
  /// Nothing may be added afterwards.
  Digest digest();

 private:
  void take_block(const std::byte* block);

  std::array<std::uint32_t, 8> hash_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, 64> block_{};
  std::uint64_t size_ = 0;  ///< bytes so far
  bool by_instructions_;
};

Sha256::Digest sha256(std::span<const std::byte> bytes);
/// As 64 hexadecimal digits.
std::string hexadecimal(const Sha256::Digest& digest);
/// Of the content of a file; throws Error{FileFailed}.
std::string sha256_of_file(const std::filesystem::path& file);

}  // namespace entrain::base
