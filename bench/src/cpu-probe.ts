// Loaded into a measured process. At its end it reports its processor time to the parent, in seconds.
process.once('beforeExit', () => {
  const { user, system } = process.cpuUsage()
  process.send?.((user + system) / 1e6)
  process.disconnect?.()
})
