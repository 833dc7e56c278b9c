import { ADAPTIVE_HUNDREDTHS } from '../../policy/limits.ts'
import { FACTOR_FORMAT, type FactorStore, type VersionedFactor } from '../../store/factor-store.ts'
import type { SettingsReader, SettingsStore } from '../../store/settings-store.ts'
import { systemStopwatch } from '../../time/clock.ts'
import { CallDeadline, callLater } from '../decide/store-call.ts'

function isFactor(hundredths: number): boolean {
  const { min, max } = ADAPTIVE_HUNDREDTHS
  return Number.isInteger(hundredths) && hundredths >= min && hundredths <= max
}

/**
 * Follows the adaptive factor in a store. Decisions never wait for it. The factor is 1 until it is read. While the
 * store is unavailable, the last one is used.
 */
export class LiveFactor {
  readonly #store: FactorStore
  readonly #onChange: (hundredths: number) => void
  readonly #unwatch: () => void
  #hundredths = 100
  /** Counts changes, so that a read that started before a change is followed by another. */
  #changes = 0
  #reading: Promise<void> | undefined

  constructor(store: FactorStore, onChange: (hundredths: number) => void) {
    this.#store = store
    this.#onChange = onChange
    this.#unwatch = store.watch(() => this.#refresh())
    this.#refresh()
  }

  /** Resolves when the reads in flight have ended, even if they failed. */
  async settled(): Promise<void> {
    await this.#reading
  }

  close(): void {
    this.#unwatch()
  }

  #refresh(): void {
    this.#changes++
    if (!this.#store.sync) {
      this.#reading ??= this.#read()
      return
    }
    try {
      this.#adopt(this.#store.read() as VersionedFactor | undefined)
    } catch {
      // The last known factor stays in use. The next tick of any process triggers another read.
    }
  }

  async #read(): Promise<void> {
    for (let changes = -1; changes !== this.#changes; ) {
      changes = this.#changes
      try {
        this.#adopt(await this.#store.read())
      } catch {
        // As above.
      }
    }
    this.#reading = undefined
  }

  #adopt(stored: VersionedFactor | undefined): void {
    // A ticker reports a factor of another version.
    if (stored !== undefined && stored.state.format !== FACTOR_FORMAT) return
    const hundredths = stored?.state.factorHundredths ?? 100
    if (hundredths === this.#hundredths || !isFactor(hundredths)) return
    this.#hundredths = hundredths
    this.#onChange(hundredths)
  }
}

/** Wraps a settings store with a deadline. Errors become `quota_unavailable`. */
export function settingsInTime(store: SettingsStore, deadline: CallDeadline): SettingsStore {
  // A synchronous reply can't be late.
  if (store.sync) return store
  const inTime = <T>(call: () => PromiseLike<T>): Promise<T> => settingsAnswer(call, deadline)
  return {
    sync: false,
    isMarked: store.isMarked,
    read: () => inTime(() => store.read()),
    write: (document, options) => inTime(() => store.write(document, options)),
    readSubject: (layer, key) => inTime(() => store.readSubject(layer, key)),
    writeSubject: (layer, key, document, options) => inTime(() => store.writeSubject(layer, key, document, options)),
    ...(store.inTransaction && {
      inTransaction: (transaction) => readerInTime(store.inTransaction!(transaction), deadline.ms),
    }),
    watch: (listener) => store.watch(listener),
    reannounce: (revision, seen) => inTime(async () => store.reannounce?.(revision, seen)),
    close: () => store.close?.(),
  }
}

/** Wraps a transaction's reader. It doesn't wait for a connection, because the transaction has one. */
function readerInTime(reader: SettingsReader, deadlineMs: number): SettingsReader {
  const deadline = new CallDeadline(deadlineMs)
  return {
    read: () => settingsAnswer(() => reader.read(), deadline),
    readSubject: (layer, key) => settingsAnswer(() => reader.readSubject(layer, key), deadline),
  }
}

function settingsAnswer<T>(call: () => PromiseLike<T>, deadline: CallDeadline): Promise<T> {
  return callLater(() => deadline.within(call(), systemStopwatch()), 'the settings store')
}

/** Wraps a factor store with a deadline for reads. */
export function factorInTime(store: FactorStore, deadline: CallDeadline): FactorStore {
  if (store.sync) return store
  return {
    sync: false,
    read: () => deadline.within(store.read(), systemStopwatch()),
    compareAndSet: (expectedVersion, minute, state) => store.compareAndSet(expectedVersion, minute, state),
    watch: (listener) => store.watch(listener),
    close: () => store.close?.(),
  }
}
