# Parts that are loaded when they are first needed, because what they are linked with takes long to load (ADR 0081, 0117). They lie
# beside the program, or in lib/entrain where it is installed.
#
# entrain_plugin(NAME ROOM LIBRARY...): apps/NAME becomes libentrain_NAME.so, linked with these; ROOM loads it.
include(GNUInstallDirs)
target_compile_definitions(entrain_base PRIVATE ENTRAIN_LIBRARIES="${CMAKE_INSTALL_LIBDIR}")
set(ENTRAIN_PLUGINS "")
function(entrain_plugin name room)
  file(GLOB sources CONFIGURE_DEPENDS apps/${name}/*.cpp)
  add_library(entrain_${name} MODULE ${sources})
  target_include_directories(entrain_${name} PRIVATE include src apps)
  target_compile_definitions(entrain_${name} PRIVATE ENTRAIN_VERSION="${PROJECT_VERSION}")
  target_link_libraries(entrain_${name} PRIVATE ${ARGN})
  target_link_options(entrain_${name} PRIVATE -Wl,--exclude-libs,ALL)  # nothing but its entry is seen
  entrain_units(entrain_${name})
  add_dependencies(entrain_${room} entrain_${name})  # both sides of an interface are of one build
  set(ENTRAIN_PLUGINS ${ENTRAIN_PLUGINS} entrain_${name} PARENT_SCOPE)
endfunction()

add_library(entrain_hdf5_library INTERFACE)
target_include_directories(entrain_hdf5_library SYSTEM INTERFACE ${ENTRAIN_HDF5_INCLUDE_DIRS})
target_link_libraries(entrain_hdf5_library INTERFACE ${ENTRAIN_HDF5_LINK_LIBRARIES})
entrain_plugin(hdf5 record entrain_base entrain_hdf5_library)
entrain_plugin(pagmo analysis entrain_flags Pagmo::pagmo)

# One run over several machines: MPI is loaded under a launcher alone.
find_package(MPI COMPONENTS C)
option(ENTRAIN_MPI "The plug-in for runs over MPI ranks" ${MPI_C_FOUND})
if(ENTRAIN_MPI)
  entrain_plugin(mpi ranks entrain_flags MPI::MPI_C)
endif()
