#include "interpreter.h"

#include <stddef.h>

/* MATLAB's trap holds whatever the function raised. */
static mxArray *kept;

int call_inside(int nlhs, mxArray **plhs, int nrhs, mxArray **prhs, const char *name)
{
    kept = mexCallMATLABWithTrap(nlhs, plhs, nrhs, prhs, name);
    return kept != NULL;
}

int say_inside(const char *text)
{
    mexPrintf("%s\n", text);
    return call_inside(0, NULL, 0, NULL, "drawnow");
}

void raise_kept(void)
{
    if (kept) {
        mxArray *again[1];
        again[0] = kept;
        kept = NULL;
        mexCallMATLAB(0, NULL, 1, again, "rethrow");
    }
}
