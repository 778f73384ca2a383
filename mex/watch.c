#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif

#include "watch.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#ifndef _WIN32
#include <dlfcn.h>
#endif

#include "arguments.h"
#include "interpreter.h"

/* Octave sets a variable that its header quit.h documents. MATLAB has a function in libut
 * that is not documented, but has been there for decades. Both are looked up when they are needed, so that the file
 * loads without them; it is then just not interrupted. */
int interrupted(void)
{
#ifndef _WIN32
    volatile sig_atomic_t *octave = (volatile sig_atomic_t *)dlsym(RTLD_DEFAULT, "octave_signal_caught");
    unsigned char (*matlab)(void);
    if (octave)
        return *octave != 0;
    *(void **)&matlab = dlsym(RTLD_DEFAULT, "utIsInterruptPending");
    if (matlab)
        return matlab();
#endif
    return 0;
}

watch watch_new(const char *function, const mxArray *progress)
{
    watch w;
    memset(&w, 0, sizeof w);
    w.function = function;
    w.started = w.said = time(NULL);
    w.percent = -1;
    if (progress && mxIsClass(progress, "function_handle"))
        w.call = progress;
    else if (progress && !mxIsLogical(progress) && !mxIsNumeric(progress))
        fail("mfma:arg:type", "%s: progress is of class %s; it must be true, false or a function", function,
             mxGetClassName(progress));
    else if (progress)
        w.text = get_flag(progress, (label){function, "progress"});
    return w;
}

/* Calls the user's function, which private/tell.m wraps: a struct is the error that it raised. */
static int32_t call_user(watch *w, double done)
{
    mxArray *args[2], *answer = NULL;
    int32_t stop = 0;
    args[0] = (mxArray *)w->call;
    args[1] = mxCreateDoubleScalar(done);
    stop = call_inside(1, &answer, 2, args, "feval");
    mxDestroyArray(args[1]);
    if (stop || !answer)
        return stop;
    if (mxIsStruct(answer)) {
        w->problem = answer;
        return 1;
    }
    if ((mxIsLogical(answer) || mxIsNumeric(answer)) && mxGetNumberOfElements(answer) == 1)
        stop = mxGetScalar(answer) == 0;
    mxDestroyArray(answer);
    return stop;
}

int32_t watch_tell(double done, void *data)
{
    watch *w = (watch *)data;
    if (interrupted())
        return 1;
    if (w->call)
        return call_user(w, done);
    if (w->text && time(NULL) - w->started >= 2 && (int)(100 * done) > w->percent && time(NULL) != w->said) {
        char text[128];
        w->said = time(NULL);
        w->percent = (int)(100 * done);
        snprintf(text, sizeof text, "%s: %d %% done", w->function, w->percent);
        return say_inside(text);
    }
    return 0;
}

void watch_end(const watch *w)
{
    raise_kept();
    if (w->problem) {
        mxArray *args[1];
        args[0] = w->problem;
        mexCallMATLAB(0, NULL, 1, args, "error");
    }
}
