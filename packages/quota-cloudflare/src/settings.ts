import { optionsParser, wholeNumber, withDefault } from '@scoregw/quota/internal'
import type {
  AsyncSettingsStore,
  SettingsChange,
  StoredDocument,
  StoreWriteOptions,
  WriteReply,
} from '@scoregw/quota/store'
import { type Carried, callObject, carried, type QuotaNamespace, type SettingsCall } from './calls.ts'
import { aNamespace, aPrefix } from './options.ts'
import type { Place, StoredText } from './stored-settings.ts'

// As they are now: a test may replace them later, and a server goes on.
const steadyMs = performance.now.bind(performance)

/** Options of {@link durableObjectSettings}. */
export interface DurableObjectSettingsOptions {
  /** The binding of the exported `QuotaDurableObject`. */
  readonly namespace: QuotaNamespace
  /**
   * How old settings may be for a decision, in milliseconds, 0 to 3,600,000. The first request after that time reads
   * them again. No effect if counters and settings are in the same object: then decisions always use the newest
   * settings.
   *
   * @default 1000
   */
  readonly maxAgeMs?: number | undefined
  /**
   * The name of the object that stores the settings.
   *
   * @default 'quota'
   */
  readonly prefix?: string | undefined
}

interface ParsedOptions extends DurableObjectSettingsOptions {
  readonly maxAgeMs: number
  readonly prefix: string
}

const parseOptions: (options: unknown) => ParsedOptions = /* @__PURE__ */ optionsParser(
  'durableObjectSettings()',
  () => ({
    namespace: aNamespace(),
    maxAgeMs: withDefault(wholeNumber(0, 3_600_000, 'milliseconds'), 1_000),
    prefix: withDefault(aPrefix(), 'quota'),
  }),
)

/** Settings in a Durable Object: see {@link durableObjectSettings}. */
export interface DurableObjectSettings extends AsyncSettingsStore {
  /** Checks now whether settings changed, and notifies watchers if they did. */
  poll(): Promise<void>
}

/**
 * Makes a settings store in a Durable Object. Pass it to `createQuota()` and to `durableObjectStore()`. Nothing polls
 * in the background: requests read settings again once they are older than `maxAgeMs`.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function durableObjectSettings(options: DurableObjectSettingsOptions): DurableObjectSettings {
  return new ObjectSettings(parseOptions(options))
}

/** After how long a poll counts as lost and is repeated, in milliseconds. The runtime may have ended its request. */
const LOST_AFTER_MS = 10_000

const EVERYONE: Place = { layer: '', subject: '' }

function placeOf(layer: string, key: string): Place {
  return { layer, subject: JSON.stringify(key) }
}

export class ObjectSettings implements DurableObjectSettings {
  readonly sync = false
  readonly isMarked = true
  readonly #options: ParsedOptions
  readonly #listeners = new Set<(change: SettingsChange) => void>()
  /** The mark of the first read or of the last change noticed; `undefined`: nothing was read. */
  #seen: string | undefined
  #polledAt = Number.NEGATIVE_INFINITY
  #polling: Promise<boolean> | undefined

  constructor(options: ParsedOptions) {
    this.#options = options
  }

  get seen(): string | undefined {
    return this.#seen
  }

  /** Whether this object also has the counters. */
  isIn(namespace: QuotaNamespace, name: string): boolean {
    return this.#options.namespace === namespace && this.#options.prefix === name
  }

  read(): Promise<StoredDocument | undefined> {
    return this.#read(EVERYONE)
  }

  readSubject(layer: string, key: string): Promise<StoredDocument | undefined> {
    return this.#read(placeOf(layer, key))
  }

  write(document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    return this.#write(EVERYONE, document, options, { kind: 'settings' })
  }

  writeSubject(layer: string, key: string, document: unknown, options: StoreWriteOptions): Promise<WriteReply> {
    return this.#write(placeOf(layer, key), document, options, { kind: 'subject', layer, key })
  }

  watch(listener: (change: SettingsChange) => void): () => void {
    // Wrapped, so that one listener can watch twice.
    const entry = (change: SettingsChange): void => listener(change)
    this.#listeners.add(entry)
    return () => void this.#listeners.delete(entry)
  }

  async poll(): Promise<void> {
    const { mark } = await this.#call({ method: 'mark', request: {} })
    this.noticed(mark)
  }

  /** Polls if the settings may be too old. @returns whether they changed */
  changedOnUse(): Promise<boolean> {
    const ageMs = steadyMs() - this.#polledAt
    if (ageMs >= (this.#polling === undefined ? this.#options.maxAgeMs : LOST_AFTER_MS)) {
      this.#polledAt = steadyMs()
      const before = this.#seen
      // While the object is unavailable, decisions use the last known settings.
      const changed = this.poll().then(
        () => this.#seen !== before,
        () => false,
      )
      this.#polling = changed.finally(() => {
        this.#polling = undefined
      })
    }
    return this.#polling ?? Promise.resolve(false)
  }

  /** Compares the current mark with the last one, and notifies watchers of a change. */
  noticed(mark: string): void {
    if (mark === this.#seen) return
    this.#seen = mark
    this.#notify({ kind: 'everything' })
  }

  async #read(place: Place): Promise<StoredDocument | undefined> {
    const { value, mark } = await this.#call({ method: 'readText', request: place })
    // A later read may be older than the mark, so the next request compares again.
    this.#seen ??= mark
    if (value === undefined) return undefined
    const { text, ...rest } = value as StoredText
    return { document: JSON.parse(text), ...rest }
  }

  async #write(
    place: Place,
    document: unknown,
    options: StoreWriteOptions,
    change: SettingsChange,
  ): Promise<WriteReply> {
    const text = document === null ? null : JSON.stringify(document)
    const { value } = await this.#call({ method: 'write', request: { ...options, ...place, text } })
    const reply = value as WriteReply
    if (reply.written) this.#notify(change)
    return reply
  }

  async #call(call: SettingsCall): Promise<Carried> {
    const { namespace, prefix } = this.#options
    return carried(await callObject(namespace, prefix, (object) => object.quotaSettings(call)))
  }

  #notify(change: SettingsChange): void {
    for (const listener of [...this.#listeners]) listener(change)
  }
}
