#include "support/places.hpp"

namespace entrain::test {

std::string program() {
  return ENTRAIN_PROGRAM;
}
std::string examples_folder() {
  return ENTRAIN_EXAMPLES;
}
std::string fuzz_corpus() {
  return ENTRAIN_FUZZ_CORPUS;
}
std::string fmu_folder() {
  return ENTRAIN_FMUS;
}
std::string fmu_library_folder() {
  return ENTRAIN_FMU_LIBRARIES;
}
std::string scripted_fmu_library() {
  return ENTRAIN_SCRIPTED_FMU;
}
std::string scripted_fmu3_library() {
  return ENTRAIN_SCRIPTED_FMU3;
}
std::string scripted_exchange_library() {
  return ENTRAIN_SCRIPTED_EXCHANGE;
}
std::string typed_fmu2_library() {
  return ENTRAIN_TYPED_FMU2;
}
std::string typed_fmu3_library() {
  return ENTRAIN_TYPED_FMU3;
}
std::string array_fmu3_library() {
  return ENTRAIN_ARRAY_FMU3;
}
std::string forgetful_fmu_library() {
  return ENTRAIN_FORGETFUL_FMU;
}
std::string clocked_fmu3_library() {
  return ENTRAIN_CLOCKED_FMU3;
}

std::string can_fmu3_library() {
  return ENTRAIN_CAN_FMU3;
}

std::string counting_exchange_library() {
  return ENTRAIN_COUNTING_EXCHANGE;
}

std::string stair_exchange1_library() {
  return ENTRAIN_STAIR_EXCHANGE1;
}

std::string late_fmu_library(int version) {
  return version == 1 ? ENTRAIN_LATE_FMU1 : version == 2 ? ENTRAIN_LATE_FMU2 : ENTRAIN_LATE_FMU3;
}

std::string rod_fmu_library() {
  return ENTRAIN_ROD_FMU;
}
std::string trap_fmu_library() {
  return ENTRAIN_TRAP_FMU;
}

std::string grasping_fmu_library() {
  return ENTRAIN_GRASPING_FMU;
}
std::string printing_fmu_library() {
  return ENTRAIN_PRINTING_FMU;
}
std::string printing_fmu_beside_library() {
  return ENTRAIN_PRINTING_FMU_BESIDE;
}
std::string printing_fmu_declared_library() {
  return ENTRAIN_PRINTING_FMU_DECLARED;
}
std::string own_solver_library() {
  return ENTRAIN_OWN_SOLVER;
}
std::string needy_fmu_library() {
  return ENTRAIN_NEEDY_FMU;
}
std::string absent_library() {
  return ENTRAIN_ABSENT_LIBRARY;
}

}  // namespace entrain::test
