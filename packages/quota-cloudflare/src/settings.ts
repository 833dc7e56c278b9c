import { optionsParser, wholeNumber, withDefault } from '@scoregw/quota/options'
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

/** Options of {@link durableObjectSettings}. */
export interface DurableObjectSettingsOptions {
  /** The binding of the exported `QuotaDurableObject`. */
  readonly namespace: QuotaNamespace
  /**
   * How old settings may be when a request is decided, in milliseconds, 0 to 3,600,000. The first request after that time reads
   * them again. Without effect where counters and settings are in the same object: requests then follow the newest ones.
   * @default 1000
   */
  readonly maxAgeMs?: number | undefined
  /**
   * The name of the object that has the settings.
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
  /** Reads now whether settings changed, and notifies watchers if they did. */
  poll(): Promise<void>
}

/**
 * Settings in a Durable Object. Pass them to `createQuota()`, and to `durableObjectStore()`, which keeps them fresh: nothing polls,
 * settings are read again on use.
 *
 * @throws {QuotaError} `invalid_options` naming every fault
 */
export function durableObjectSettings(options: DurableObjectSettingsOptions): DurableObjectSettings {
  return new ObjectSettings(parseOptions(options))
}

/** A poll without an answer for so long is made again: the runtime may have ended its request. In milliseconds. */
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
  /** The mark of what was read first or noticed last; `undefined`: nothing was read. */
  #seen: string | undefined
  #polledAt = Number.NEGATIVE_INFINITY
  #polling: Promise<boolean> | undefined

  constructor(options: ParsedOptions) {
    this.#options = options
  }

  get seen(): string | undefined {
    return this.#seen
  }

  /** Whether these are in the object that has the counters. */
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
    // A function of our own, so that one listener may watch twice.
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
    const ageMs = performance.now() - this.#polledAt
    if (ageMs >= (this.#polling === undefined ? this.#options.maxAgeMs : LOST_AFTER_MS)) {
      this.#polledAt = performance.now()
      const before = this.#seen
      // While the object does not answer, requests are decided by the last known settings.
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

  /** The settings have this mark now. */
  noticed(mark: string): void {
    if (mark === this.#seen) return
    this.#seen = mark
    this.#notify({ kind: 'everything' })
  }

  async #read(place: Place): Promise<StoredDocument | undefined> {
    const { value, mark } = await this.#call({ method: 'readText', request: place })
    // Of later reads some may be older than the mark, so theirs is left to the next request.
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
