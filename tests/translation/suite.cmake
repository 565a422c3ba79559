# Translation in bulk, against captured traffic, schemas and the official SDKs: translate.c is the part under test alone.
add_executable(translate "${CMAKE_CURRENT_LIST_DIR}/translate.c")
target_link_libraries(translate PRIVATE acog_policy acog_engine acog_dialect acog_stream acog_base PkgConfig::JANSSON)
