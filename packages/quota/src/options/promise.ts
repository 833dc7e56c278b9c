import { QuotaError } from '../errors/quota-error.ts'

/**
 * Whether a value is a promise of any library, realm or copy of a library. `instanceof Promise` fails for native
 * promises where the global `Promise` was replaced, as zone.js does.
 */
export function isPromiseLike<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  const isAny = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return isAny && typeof (value as { readonly then?: unknown }).then === 'function'
}

/**
 * Returns a value that must not be a promise. A promise is never awaited, so its rejection is handled here.
 *
 * @param what the option and what it expects, for example `messages.en: expected a text`
 * @throws {QuotaError} `invalid_options` for a promise
 */
export function notPromise<T>(value: T, what: string): T {
  if (!isPromiseLike(value)) return value
  value.then(undefined, () => undefined)
  throw new QuotaError('invalid_options', `${what}, got a promise`)
}

/** Calls a function of the application. What it throws, or rejects with, is passed to `failed`. */
export function calling(call: () => unknown, failed: (error: unknown) => void): void {
  try {
    const result = call()
    if (isPromiseLike(result)) result.then(undefined, failed)
  } catch (error) {
    failed(error)
  }
}

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
