/** The last work of each transaction on its connection. */
const LAST = new WeakMap<object, Promise<unknown>>()

/** Runs a transaction's work after all work before it: savepoints nest, and share one connection. */
export function inOrder<T>(transaction: object, work: () => Promise<T>): Promise<T> {
  const done = (LAST.get(transaction) ?? Promise.resolve()).then(work)
  LAST.set(
    transaction,
    done.catch(() => undefined),
  )
  return done
}
