#include <lmdb.h>
#ifdef __linux__
#include <sys/vfs.h>  // statfs, which Swift's Glibc module leaves out
#endif
