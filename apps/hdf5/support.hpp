#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

namespace entrain::hdf5 {

/// An object of HDF5, closed at the end of its life.
class Hdf5Object {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Object() = default;
  Hdf5Object(hid_t id, Close close) : id_(id), close_(close) {}
  Hdf5Object(Hdf5Object&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hdf5Object& operator=(Hdf5Object&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Object() {
    if (id_ >= 0) close_(id_);
  }
  hid_t id() const { return id_; }
  bool valid() const { return id_ >= 0; }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

/// HDF5 prints its errors unless this is switched off, in each thread.
inline void silence_hdf5() {
  // Its own cleaning up at the end of the program tries once more what a full disk refused, and crashes.
  static const herr_t no_cleaning_up = H5dont_atexit();
  static_cast<void>(no_cleaning_up);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

inline constexpr const char* kHdf5Time = "time";

/// Text of any length in UTF-8: what h5py takes for str, not for bytes.
Hdf5Object hdf5_text();

/// A name that HDF5 can hold as one link: '/' and '%' as %2F and %25; the whole of "time" and "." are written so as
/// well.
std::string hdf5_link(std::string_view name);

}  // namespace entrain::hdf5
