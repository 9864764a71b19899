/* What the library says of itself. */
#include "kernels.h"

/* The digest of the source that it was made from; compiled.py compares it with the source there. */
EXPORT const char *kernels_source(void) { return KERNELS_SOURCE; }

#if defined(_WIN32)
/* Windows calls this when the library comes and goes; there is nothing to do. */
int DllMainCRTStartup(void *library, unsigned long reason, void *reserved);
int DllMainCRTStartup(void *library, unsigned long reason, void *reserved)
{
    (void)library, (void)reason, (void)reserved;
    return 1;
}
#endif
