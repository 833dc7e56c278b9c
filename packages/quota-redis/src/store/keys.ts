import { createHash } from 'node:crypto'
import { layerKey, type StoreSchema, type Subject } from '@scoregw/quota'

/**
 * The names of a policy's keys. All begin with `{prefix}`, so that they share a slot, and a fingerprint of the windows,
 * categories and layers, so that a row is never read as another schema's.
 *
 * | key | holds |
 * |---|---|
 * | `{prefix}:settings:version` | version of the settings in force, shared by all schemas |
 * | `{prefix}FFFF<table>:<subject>` | row of one layer and category; `!` for `:` where the subject is not well-formed text |
 * | `{prefix}FFFF$<category>:<layers>` | book of leases, where the shared layers are leased |
 * | `{prefix}FFFF#<category>:<length>:<subject>..<id>` | record of a reservation's id |
 */
export class Keys {
  readonly settingsVersion: string
  readonly #schema: StoreSchema
  readonly #start: string
  /** Up to and with the colon, by `layer * categories + category`. */
  readonly #tables: readonly string[]

  constructor(prefix: string, schema: StoreSchema) {
    const { windows, categories, layers } = schema
    const fingerprint = createHash('sha256')
      .update(JSON.stringify([windows, categories, layers]))
      .digest('base64url')
    this.#schema = schema
    this.#start = `{${prefix}}${fingerprint.slice(0, 4)}`
    this.settingsVersion = `{${prefix}}:settings:version`
    this.#tables = layers.flatMap((_, layer) =>
      categories.map((__, category) => `${this.#start}${layer * categories.length + category}`),
    )
  }

  row(layer: number, category: number, subject: Subject): string {
    const key = layerKey(this.#schema.layers[layer]!, subject)
    const table = this.#tables[layer * this.#schema.categories.length + category]!
    return isWellFormed(key) ? `${table}:${key}` : `${table}!${utf16Hex(key)}`
  }

  /** The book of leases of one category and some shared layers. */
  book(category: number, layers: readonly number[]): string {
    return `${this.#start}$${category}:${layers.join()}`
  }

  /** Lengths tell where a subject ends, so that no two (subject, id) share a key whatever characters they hold. */
  record(category: number, subject: Subject, id: string): string {
    const own = this.#schema.layers.filter((layer) => !layer.shared).map((layer) => layerKey(layer, subject))
    const parts = own.map((key) => `${safe(key).length}:${safe(key)}`)
    return `${this.#start}#${category}:${parts.join('')}${safe(id)}`
  }
}

/** Text that survives UTF-8: as it is, or in hexadecimal behind a mark that well-formed text gets doubled. */
function safe(text: string): string {
  return isWellFormed(text) ? `=${text}` : `!${utf16Hex(text)}`
}

function utf16Hex(text: string): string {
  return Buffer.from(text, 'utf16le').toString('hex')
}

/** Without lone surrogates, all of which would be the same three bytes. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text)
}
