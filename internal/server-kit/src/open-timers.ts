type Call = (...args: unknown[]) => unknown
type TimerCalls = Record<'setInterval' | 'setTimeout' | 'clearInterval' | 'clearTimeout', Call>

/**
 * Counts the timers that some sources set from now on, while a test's fake timers are on. A count of all fake timers
 * would include other test files, which share the process.
 *
 * @param sources the ends of the sources' paths: `['http/metered-request.ts']`
 * @returns how many of those timers are still open
 */
export function openTimers(sources: readonly string[]): () => number {
  const timers = globalThis as unknown as TimerCalls
  const open = new Set<unknown>()

  function watched(timer: unknown): unknown {
    const stack = new Error('who sets a timer').stack ?? ''
    if (sources.some((source) => stack.includes(source))) open.add(timer)
    return timer
  }

  replace('setInterval', (set, args) => watched(set(...args)))
  replace('setTimeout', (set, [callback, ...rest]) => {
    const timer = set(
      () => {
        open.delete(timer)
        ;(callback as Call)()
      },
      ...rest,
    )
    return watched(timer)
  })
  for (const name of ['clearInterval', 'clearTimeout'] as const) {
    replace(name, (clear, [timer]) => {
      open.delete(timer)
      clear(timer)
    })
  }

  /** A proxy has all members of the fake, including those that restore the real one. */
  function replace(name: keyof TimerCalls, call: (fake: Call, args: unknown[]) => unknown): void {
    timers[name] = new Proxy(timers[name], { apply: (fake, _, args) => call(fake, args) })
  }

  return () => open.size
}
