/* Identification of the library. */
#include "kernels.h"

/* Digest of the source that the library was built from; compiled.py compares it with its own. */
EXPORT const char *kernels_source(void) { return KERNELS_SOURCE; }

#if defined(_WIN32)
/* Windows calls this when the library is loaded and unloaded; nothing needs to be done. */
int DllMainCRTStartup(void *library, unsigned long reason, void *reserved);
int DllMainCRTStartup(void *library, unsigned long reason, void *reserved)
{
    (void)library, (void)reason, (void)reserved;
    return 1;
}
#endif
