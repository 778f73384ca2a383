/* Long products: Ctrl-C, and telling how far they are. */
#ifndef MFMA_MEX_WATCH_H
#define MFMA_MEX_WATCH_H

#include <stdint.h>
#include <time.h>

#include "mex.h"

typedef struct {
    const char *function;   /* what messages begin with */
    const mxArray *call;    /* function that is told, or NULL */
    int text;               /* print how far it is? */
    time_t started, said;
    int percent;            /* last printed */
    int interrupted;        /* by Ctrl-C */
    mxArray *exception;     /* what `call` raised */
} watch;

/* `progress` is the user's option: NULL or false, true, or a function. */
watch watch_new(const char *function, const mxArray *progress);

/* The library's callback, on the thread that called it: `done` is the part that is done. Anything but 0 stops the product. */
int32_t watch_tell(double done, void *data);

/* Raises the error of the user's function that stopped the product, if that was it. */
void watch_end(const watch *w);

#endif
