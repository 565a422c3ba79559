# No line of CONFORMANCE without a test that names it, ran and passed.
if(TARGET acog)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    add_test(NAME gate.citations
             COMMAND ${Python3_EXECUTABLE} "${CMAKE_CURRENT_LIST_DIR}/run.py" $<TARGET_FILE:acog>)
    set_tests_properties(gate.citations PROPERTIES TIMEOUT 120)
endif()
