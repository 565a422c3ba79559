# The official SDKs (PyPI and npm) through the gateway: see run.py.
if(TARGET acog)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    foreach(language IN ITEMS python node)
        add_test(NAME e2e.sdk_${language}
                 COMMAND ${Python3_EXECUTABLE} "${CMAKE_SOURCE_DIR}/tests/e2e/run.py" $<TARGET_FILE:acog>
                         "${CMAKE_BINARY_DIR}" ${language})
        set_tests_properties(e2e.sdk_${language} PROPERTIES TIMEOUT 600)
    endforeach()
endif()
