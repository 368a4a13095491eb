"""Mutation testing: the code is changed in small ways, and each change has to fail a test.

Made here and not by mutmut 3.8 or cosmic-ray 8.7, which were tried: neither leaves a statement out or looks into SQL,
where half of what guards money and grants is written. cosmic-ray writes each mutant into the working tree and starts
an interpreter for it, three seconds each where a trial takes a third of one; mutmut passes over decorated functions
and whatever stands outside of functions, chooses the tests itself, and makes three mutants in four of texts and
arguments.
"""
