/* The little that the C tests need: checks that print what failed, and a final count. */
#ifndef CHECK_H
#define CHECK_H

#include <mfma.h>
#include <stdio.h>
#include <string.h>

static int check_failures = 0;
static int check_count = 0;

#define CHECK(condition)                                                                  \
    do {                                                                                  \
        check_count++;                                                                    \
        if (!(condition)) {                                                               \
            check_failures++;                                                             \
            printf("%s:%d: %s\n    last error: %s\n", __FILE__, __LINE__, #condition,     \
                   mfma_last_error());                                                    \
        }                                                                                 \
    } while (0)

/* The call must give this status, and on failure a message that contains this text. */
#define EXPECT(call, wanted, text)                                                        \
    do {                                                                                  \
        mfma_status status_ = (call);                                                     \
        check_count++;                                                                    \
        if (status_ != (wanted) ||                                                        \
            ((wanted) != MFMA_OK && strstr(mfma_last_error(), (text)) == NULL)) {         \
            check_failures++;                                                             \
            printf("%s:%d: %s\n    gave %d (%s), not %d; last error: %s\n", __FILE__,     \
                   __LINE__, #call, (int)status_, mfma_status_string(status_),            \
                   (int)(wanted), mfma_last_error());                                     \
        }                                                                                 \
    } while (0)

static int check_result(void)
{
    printf("%d checks, %d failed\n", check_count, check_failures);
    return check_failures != 0;
}

#endif
