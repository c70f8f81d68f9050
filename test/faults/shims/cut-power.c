/*
 * cut-power <directory>: from now on nothing more reaches the disk of the file system that the directory is on, and
 * what was not synced is lost, its journal included. The file system test suites of Linux cut the power this way.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>

#define CUT _IOR('X', 125, uint32_t)
#define WITHOUT_FLUSHING_THE_JOURNAL 2

int main(int count, char **words) {
  uint32_t how = WITHOUT_FLUSHING_THE_JOURNAL;
  int fd = count == 2 ? open(words[1], O_RDONLY) : -1;
  if (fd >= 0 && ioctl(fd, CUT, &how) == 0) return 0;
  perror("cut-power");
  return 1;
}
