/* Long products: Ctrl-C, and telling how far they are. */
#ifndef MFMA_MEX_WATCH_H
#define MFMA_MEX_WATCH_H

#include <stdint.h>
#include <time.h>

#include "mex.h"

/* Has the user pressed Ctrl-C? */
int interrupted(void);

typedef struct {
    const char *function;   /* what messages begin with */
    const mxArray *call;    /* function that is told, or NULL */
    int text;               /* print how far it is? */
    time_t started, said;
    int percent;            /* last printed */
    mxArray *problem;       /* the error that `call` raised, as a struct */
} watch;

/* `progress` is the user's option: NULL or false, true, or a function that private/tell.m wraps. */
watch watch_new(const char *function, const mxArray *progress);

/* The library's callback, on the thread that called it: `done` is the part that is done. Anything but 0 stops the product. */
int32_t watch_tell(double done, void *data);

/* Once the library has returned: raises the error, or the interrupt, of the user's function that stopped it, if that was it. */
void watch_end(const watch *w);

#endif
