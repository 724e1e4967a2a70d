/* Has the engine ask its embedder for every block, also for short ones.

   QuickJS-ng cuts blocks of up to 512 bytes from pieces of 4 KB, which each runtime has of its own: 60 KB of a VU were free places
   in them. It asks for each block where an address sanitizer has to see every one of them, and looks at nothing else then:
   `__SANITIZE_ADDRESS__` has no other effect in quickjs.c. The blocks come from script/src/js/heap, and the reasons are in
   docs/adr/0026-vus-share-slabs.md.

   The folder of this file is on the search path of C compilers (CPATH in .cargo/config.toml). The engine includes <stdbool.h> once
   more after its own header, and no other library in C includes that header, so that none of them sees the macro. Without this file
   everything works, and a VU takes more memory: a test in script/src/vm.rs says so. */
#include_next <stdbool.h>
#if defined(QUICKJS_H) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
