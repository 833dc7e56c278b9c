import { runInNewContext } from 'node:vm'
import type { AsyncStore, SyncStore } from '@scoregw/quota/store'

/** The class of promises of another realm: what it makes is no `Promise` of this one. */
const ForeignPromise = runInNewContext('Promise') as PromiseConstructor

/** The same store, answering later, by promises that only their `then` gives away. */
export function lateStore(store: SyncStore): AsyncStore {
  return {
    sync: false,
    can: store.can,
    open(schema) {
      const counters = store.open(schema)
      const later =
        <Request, Reply>(call: (request: Request) => Reply) =>
        (request: Request): PromiseLike<Reply> =>
          ForeignPromise.resolve().then(() => call(request))
      return {
        take: later((request) => counters.take(request)),
        read: later((request) => counters.read(request)),
        settle: later((request) => counters.settle(request)),
        reset: later((request) => counters.reset(request)),
      }
    },
  }
}
