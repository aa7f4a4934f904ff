// libentrain_hdf5.so: the only part of Entrain that is linked with HDF5, loaded when a file of that format is written
// or read (docs/adr/0117).
#include "hdf5/plugin.hpp"

extern "C" __attribute__((visibility("default"))) const entrain::recording::Hdf5Plugin* entrain_hdf5() {
  using namespace entrain::hdf5;
  static constexpr entrain::recording::Hdf5Plugin kCalls{ENTRAIN_VERSION, results_file, open_file, write_table};
  return &kCalls;
}
