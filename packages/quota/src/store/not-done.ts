/** The same in every copy of this library. */
const NOT_DONE = Symbol.for('@scoregw/quota/not-done')

/** Marks a store's error as one that says for certain that nothing was carried out, so that the call may be made again. */
export function notDone<E extends object>(error: E): E {
  Object.defineProperty(error, NOT_DONE, { value: true })
  return error
}

/** Whether an error says for certain that nothing was carried out; most cannot. */
export function isNotDone(error: unknown): boolean {
  return typeof error === 'object' && error !== null && NOT_DONE in error
}
