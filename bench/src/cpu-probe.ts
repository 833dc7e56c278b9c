// Loaded into a process that is measured: tells its parent in the end what processor time it took, in seconds.
process.once('beforeExit', () => {
  const { user, system } = process.cpuUsage()
  process.send?.((user + system) / 1e6)
  process.disconnect?.()
})
