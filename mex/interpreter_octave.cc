#include <exception>

#include "interpreter.h"

namespace {

std::exception_ptr kept;
mxArray *kept_error = nullptr;

}

extern "C" int call_inside(int nlhs, mxArray **plhs, int nrhs, mxArray **prhs, const char *name)
{
    try {
        kept_error = mexCallMATLABWithTrap(nlhs, plhs, nrhs, prhs, name);
        return kept_error != nullptr;
    } catch (...) {
        kept = std::current_exception();
        return 1;
    }
}

extern "C" int say_inside(const char *text)
{
    mxArray *print[] = {mxCreateString("%s\n"), mxCreateString(text)}, *flush[] = {mxCreateDoubleScalar(1)};
    return call_inside(0, nullptr, 2, print, "printf") || call_inside(0, nullptr, 1, flush, "fflush");
}

extern "C" void raise_kept(void)
{
    if (kept) {
        const std::exception_ptr again = kept;
        kept = nullptr;
        std::rethrow_exception(again);
    }
    if (kept_error) {
        mxArray *again[] = {kept_error};
        kept_error = nullptr;
        mexCallMATLAB(0, nullptr, 1, again, "rethrow");
    }
}
