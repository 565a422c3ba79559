# Whole programs over real sockets: the official SDKs (PyPI and npm, see run.py), and stories of several workers.
if(TARGET acog)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    foreach(language IN ITEMS python node)
        add_test(NAME e2e.sdk_${language}
                 COMMAND ${Python3_EXECUTABLE} "${CMAKE_SOURCE_DIR}/tests/e2e/run.py" $<TARGET_FILE:acog>
                         "${CMAKE_BINARY_DIR}" ${language})
        add_test(NAME e2e.loops_${language}
                 COMMAND ${Python3_EXECUTABLE} "${CMAKE_SOURCE_DIR}/tests/e2e/loops/run.py" $<TARGET_FILE:acog>
                         "${CMAKE_BINARY_DIR}" ${language})
        # They install the same SDKs in the same place.
        set_tests_properties(e2e.sdk_${language} e2e.loops_${language} PROPERTIES TIMEOUT 600
                             RESOURCE_LOCK sdk_${language})
    endforeach()
    foreach(name IN ITEMS answers bad_provider circuit clients_leave clocks hygiene newcomer records requests s4 safety slow_reader tls)
        add_test(NAME e2e.${name}
                 COMMAND ${Python3_EXECUTABLE} "${CMAKE_SOURCE_DIR}/tests/e2e/${name}_test.py" $<TARGET_FILE:acog>)
        set_tests_properties(e2e.${name} PROPERTIES TIMEOUT 120)
    endforeach()
endif()
