# Stories that must go the same way in the simulator and over real sockets: under all five policies. And the sixteen scenarios
# of examples/resilient, whose verdicts must.
if(TARGET acog)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    add_test(NAME scenarios.live
             COMMAND ${Python3_EXECUTABLE} "${CMAKE_SOURCE_DIR}/tests/scenarios/live.py" $<TARGET_FILE:acog>)
    set_tests_properties(scenarios.live PROPERTIES TIMEOUT 300)
    add_test(NAME scenarios.resilient
             COMMAND ${Python3_EXECUTABLE} "${CMAKE_SOURCE_DIR}/tests/scenarios/resilient.py" $<TARGET_FILE:acog>)
    set_tests_properties(scenarios.resilient PROPERTIES TIMEOUT 300)
endif()
