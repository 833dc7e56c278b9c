interface Listened {
  readonly listeners: Set<() => void>
  readonly fire: () => void
}

const LISTENED = new WeakMap<AbortSignal, Listened>()

/**
 * Calls the listener when the signal aborts. All calls with a signal share one listener of it, because Node warns of more
 * than ten.
 *
 * @returns a function that stops listening
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  const { listeners, fire } = LISTENED.get(signal) ?? listened(signal)
  listeners.add(listener)
  return () => {
    if (!listeners.delete(listener) || listeners.size > 0) return
    signal.removeEventListener('abort', fire)
    LISTENED.delete(signal)
  }
}

function listened(signal: AbortSignal): Listened {
  const listeners = new Set<() => void>()
  const fire = (): void => {
    for (const listener of [...listeners]) listener()
  }
  signal.addEventListener('abort', fire)
  LISTENED.set(signal, { listeners, fire })
  return { listeners, fire }
}
