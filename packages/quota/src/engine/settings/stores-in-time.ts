import type { FactorStore } from '../../store/factor-store.ts'
import type { SettingsReader, SettingsStore } from '../../store/settings-store.ts'
import { withinTime } from '../decide/time-limit.ts'
import { askLater } from '../decide/unavailable.ts'

/** The same settings store, every answer of which comes in time or is `quota_unavailable`. */
export function settingsInTime(store: SettingsStore, deadlineMs: number): SettingsStore {
  // An answer that is here at once cannot be late.
  if (store.sync) return store
  const inTime = <T>(ask: () => PromiseLike<T>): Promise<T> =>
    askLater(() => withinTime(ask(), deadlineMs), 'the settings store')
  return {
    sync: false,
    isMarked: store.isMarked,
    read: () => inTime(() => store.read()),
    write: (document, options) => inTime(() => store.write(document, options)),
    readSubject: (layer, key) => inTime(() => store.readSubject(layer, key)),
    writeSubject: (layer, key, document, options) => inTime(() => store.writeSubject(layer, key, document, options)),
    ...(store.within && { within: (transaction) => readerInTime(store.within!(transaction), inTime) }),
    watch: (listener) => store.watch(listener),
    reannounce: (revision, seen) => inTime(async () => store.reannounce?.(revision, seen)),
    close: () => store.close?.(),
  }
}

function readerInTime(reader: SettingsReader, inTime: <T>(ask: () => PromiseLike<T>) => Promise<T>): SettingsReader {
  return {
    read: () => inTime(() => reader.read()),
    readSubject: (layer, key) => inTime(() => reader.readSubject(layer, key)),
  }
}

/** The same factor store, which is read in time or not at all. */
export function factorInTime(store: FactorStore, deadlineMs: number): FactorStore {
  if (store.sync) return store
  return {
    sync: false,
    read: () => withinTime(store.read(), deadlineMs),
    compareAndSet: (expectedVersion, minute, state) => store.compareAndSet(expectedVersion, minute, state),
    watch: (listener) => store.watch(listener),
    close: () => store.close?.(),
  }
}
