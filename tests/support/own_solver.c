/* A library that an FMU brings, with functions that have the names of the solvers that the engine uses. */
int SUNContext_Create(void);
int CVodeInit(void);
int SUNContext_Create(void) {
  return 40;
}
int CVodeInit(void) {
  return SUNContext_Create() + 2;
}
