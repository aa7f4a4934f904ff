/* A library that an FMU needs and that may not be there. */
int absent(void);
int absent(void) {
  return 1;
}
