# Headers, export sets and the package files of find_package(Blockscale).
# Libraries and tools add themselves (BlockscaleHelpers.cmake).

include(CMakePackageConfigHelpers)

set(BLOCKSCALE_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/Blockscale")

install(DIRECTORY include/blockscale DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(BLOCKSCALE_WITH_MLIR)
  install(DIRECTORY "${PROJECT_BINARY_DIR}/include/blockscale"
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h.inc" PATTERN "CMakeFiles" EXCLUDE)
endif()

get_property(sets GLOBAL PROPERTY BLOCKSCALE_EXPORT_SETS)
list(REMOVE_DUPLICATES sets)
foreach(set IN LISTS sets)
  install(EXPORT Blockscale${set}Targets NAMESPACE Blockscale::
    DESTINATION ${BLOCKSCALE_PACKAGE_DIR})
endforeach()

configure_package_config_file(cmake/BlockscaleConfig.cmake.in
  "${PROJECT_BINARY_DIR}/cmake/BlockscaleConfig.cmake"
  INSTALL_DESTINATION ${BLOCKSCALE_PACKAGE_DIR})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/BlockscaleConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/cmake/BlockscaleConfig.cmake"
  "${PROJECT_BINARY_DIR}/cmake/BlockscaleConfigVersion.cmake"
  DESTINATION ${BLOCKSCALE_PACKAGE_DIR})
