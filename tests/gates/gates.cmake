# gates.cmake - what must hold of the tree itself, each as a ctest case.
set(gates "${CMAKE_SOURCE_DIR}/tests/gates")
add_test(NAME gate.layers COMMAND sh ${gates}/layers.sh ${CMAKE_SOURCE_DIR})
add_test(NAME gate.banned COMMAND sh ${gates}/banned.sh ${CMAKE_SOURCE_DIR})
add_test(NAME gate.headers COMMAND sh ${gates}/headers.sh ${CMAKE_SOURCE_DIR} ${CMAKE_C_COMPILER})
add_test(NAME gate.format COMMAND sh ${gates}/format.sh ${CMAKE_SOURCE_DIR})
add_test(NAME gate.lua COMMAND sh ${gates}/lua.sh ${CMAKE_SOURCE_DIR})
add_test(NAME gate.shell COMMAND sh ${gates}/shell.sh ${CMAKE_SOURCE_DIR})
add_test(NAME gate.layout COMMAND sh ${gates}/layout.sh ${CMAKE_SOURCE_DIR})
add_test(NAME gate.links COMMAND python3 ${gates}/links.py ${CMAKE_SOURCE_DIR})
add_test(NAME gate.s4 COMMAND sh ${gates}/s4.sh ${CMAKE_SOURCE_DIR})
add_test(NAME gate.pure
         COMMAND sh ${gates}/pure.sh $<TARGET_FILE:acog_engine> $<TARGET_FILE:acog_stream>
                 $<TARGET_FILE:acog_dialect> $<TARGET_FILE:acog_exchange> $<TARGET_FILE:acog_provider>)
