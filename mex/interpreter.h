/* Calls of the interpreter from inside a callback of the library. An interrupt or an exit raises a C++ exception in Octave,
 * which must not unwind through the library: it is kept, and raised again once the library has returned. Octave compiles
 * interpreter_octave.cc, MATLAB interpreter_matlab.c. */
#ifndef MFMA_MEX_INTERPRETER_H
#define MFMA_MEX_INTERPRETER_H

#include "mex.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Calls a function. 0 if it returned, else what it raised is kept. */
int call_inside(int nlhs, mxArray **plhs, int nrhs, mxArray **prhs, const char *name);

/* Prints a line at once. 0 if that went well. */
int say_inside(const char *text);

/* Raises what is kept, if anything is; else returns. */
void raise_kept(void);

#ifdef __cplusplus
}
#endif

#endif
