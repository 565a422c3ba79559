# Translation in bulk, against captured traffic, schemas and the official SDKs: translate.c is the part under test alone.
add_executable(translate "${CMAKE_CURRENT_LIST_DIR}/translate.c")
target_link_libraries(translate PRIVATE acog_policy acog_engine acog_dialect acog_stream acog_base PkgConfig::JANSSON)

find_package(Python3 REQUIRED COMPONENTS Interpreter)
foreach(name IN ITEMS answers identities node requests) # need the captured data, and packages
    add_test(NAME translation.${name}
             COMMAND ${Python3_EXECUTABLE} "${CMAKE_CURRENT_LIST_DIR}/run.py" $<TARGET_FILE:translate>
                     "${CMAKE_BINARY_DIR}" ${name})
    set_tests_properties(translation.${name} PROPERTIES TIMEOUT 900 SKIP_RETURN_CODE 77)
endforeach()
foreach(name IN ITEMS table there_and_back)
    add_test(NAME translation.${name}
             COMMAND ${Python3_EXECUTABLE} "${CMAKE_CURRENT_LIST_DIR}/${name}_test.py" $<TARGET_FILE:translate>)
    set_tests_properties(translation.${name} PROPERTIES TIMEOUT 900)
endforeach()
