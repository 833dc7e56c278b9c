import type { MaybeAsync } from './options.ts'

/** Goes on with a value: at once if it is here, else when it arrives. */
export function chain<T, U>(value: MaybeAsync<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return isPromiseLike(value) ? Promise.resolve(value).then(next) : next(value)
}

function isPromiseLike<T>(value: MaybeAsync<T>): value is PromiseLike<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
}
