/** The last work of each transaction, as its connection has it. */
const LAST = new WeakMap<object, Promise<unknown>>()

/** Does some work of a transaction when all that came before it is done: savepoints nest, and share one connection. */
export function inOrder<T>(transaction: object, work: () => Promise<T>): Promise<T> {
  const done = (LAST.get(transaction) ?? Promise.resolve()).then(work)
  LAST.set(
    transaction,
    done.catch(() => undefined),
  )
  return done
}
