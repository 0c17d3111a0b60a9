# `make install`: the program, its pages and completions, and the library with one header (docs/check/extend.md#parley-in-another-project).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

add_library(parley_shared SHARED ${PROJECT_SOURCE_DIR}/cmake/shared.cpp)
target_link_libraries(parley_shared PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,parley_library>)
set_target_properties(parley_shared PROPERTIES OUTPUT_NAME parley EXPORT_NAME parley VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_include_directories(parley_shared INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(parley_shared INTERFACE cxx_std_20)

install(TARGETS parley RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
install(TARGETS parley_shared EXPORT parley LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/include/parley/parley.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/parley COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/src/parley/base/error.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/parley/base COMPONENT development)
install(EXPORT parley NAMESPACE parley:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/parley FILE parley-targets.cmake COMPONENT development)

set(parley_has_mpi ${MPI_CXX_FOUND})
set(parley_has_mesh ${gRPC_FOUND})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/parley-config.cmake.in ${PROJECT_BINARY_DIR}/parley-config.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/parley)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/parley-config-version.cmake COMPATIBILITY SameMinorVersion)
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # the tree may be moved
configure_file(${CMAKE_CURRENT_LIST_DIR}/parley.pc.in ${PROJECT_BINARY_DIR}/parley.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/parley-config.cmake ${PROJECT_BINARY_DIR}/parley-config-version.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/parley COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/parley.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

# What the program says of itself.
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" -DPARLEY=$<TARGET_FILE:parley> -DOUT=${PROJECT_BINARY_DIR}/installed -P \"${CMAKE_CURRENT_LIST_DIR}/pages.cmake\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
install(DIRECTORY ${PROJECT_BINARY_DIR}/installed/man1/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
install(FILES ${PROJECT_BINARY_DIR}/installed/parley DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${PROJECT_BINARY_DIR}/installed/_parley DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
install(FILES ${PROJECT_BINARY_DIR}/installed/parley.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
