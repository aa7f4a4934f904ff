# The installed kit; read by entrain-config.cmake for the component fmukit.
set(ENTRAIN_FMUKIT_FOLDER ${CMAKE_CURRENT_LIST_DIR})
if(NOT TARGET entrain::fmukit)
  add_library(entrain::fmukit_flags INTERFACE IMPORTED)
  target_include_directories(entrain::fmukit_flags INTERFACE ${ENTRAIN_FMUKIT_FOLDER}/include)
  target_compile_options(entrain::fmukit_flags INTERFACE -ffunction-sections -fdata-sections -ffp-contract=off)
  target_compile_features(entrain::fmukit_flags INTERFACE cxx_std_20)
  # The public headers, not the library: an FMU stands alone.
  target_include_directories(entrain::fmukit_flags INTERFACE $<TARGET_PROPERTY:entrain::entrain,INTERFACE_INCLUDE_DIRECTORIES>)
  foreach(part fmukit fmi1_exports fmi2_exports fmi3_exports fmu_describer)
    add_library(entrain::${part} STATIC IMPORTED)
    set_target_properties(entrain::${part} PROPERTIES IMPORTED_LOCATION ${ENTRAIN_FMUKIT_FOLDER}/libentrain_${part}.a
      IMPORTED_LINK_INTERFACE_LANGUAGES CXX)
  endforeach()
  add_executable(entrain::fmu_packer IMPORTED)
  set_target_properties(entrain::fmu_packer PROPERTIES IMPORTED_LOCATION ${ENTRAIN_FMUKIT_FOLDER}/pack_fmu)
endif()
include(${ENTRAIN_FMUKIT_FOLDER}/add_fmu.cmake)
