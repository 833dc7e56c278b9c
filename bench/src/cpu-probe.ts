// Loaded into a measured process: at its end, reports to the parent the processor time it took, in seconds.
process.once('beforeExit', () => {
  const { user, system } = process.cpuUsage()
  process.send?.((user + system) / 1e6)
  process.disconnect?.()
})
