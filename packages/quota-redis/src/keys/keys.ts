/// <reference lib="es2024.string" />
import { createHash } from 'node:crypto'
import { QuotaError } from '@scoregw/quota'
import { idOwnerKey, Layout, layerKey, type StoreSchema, type Subject } from '@scoregw/quota/store'

/**
 * The names of the keys of a policy's counters. All begin with `{prefix}`, so that they share a slot. Tables are known by names:
 * counters are the same under every policy that has a layer and a category of these names.
 *
 * | key | holds |
 * |---|---|
 * | `{prefix}:settings` | the settings in force, beginning with their revision, or the revision announced |
 * | `{prefix}:limits` | the lists of limits that rows and records name, by their hash |
 * | `{prefix}TTTTT:<subject>` | row of one layer and category; `!` for `:` where the subject is not well-formed text |
 * | `{prefix}$TTTTT` | book of leases, where the shared layers are leased |
 * | `{prefix}@TTTTT<length>:<subject>..<id>` | record of a reservation's id |
 * | `{prefix}#TTTTT<length>:<subject>..<id>` | the same as 60fd3be7 and leases write it |
 * | `{prefix}:holds` | the open holds, by when they end |
 * | `{prefix}%<subject>` | those of one subject |
 *
 * `TTTTT` stands for five characters of a hash of names: of a layer and a category; of a category and the shared layers;
 * of a category.
 */
export class Keys {
  readonly schema: StoreSchema
  readonly layout: Layout
  readonly settings: string
  readonly lists: string
  /** The index of all open holds. */
  readonly holds: string
  readonly #start: string
  /** Up to the colon, by `layer * categories + category`. */
  readonly #tables: readonly string[]
  /** What names of records have for each category. */
  readonly #recordTables: readonly string[]

  /** @throws {QuotaError} `store_mismatch` */
  constructor(prefix: string, schema: StoreSchema) {
    this.schema = schema
    this.layout = new Layout(schema.cells)
    this.#start = `{${prefix}}`
    this.settings = `${this.#start}:settings`
    this.lists = `${this.#start}:limits`
    this.holds = `${this.#start}:holds`
    const { layers, categories } = schema
    this.#tables = layers.flatMap(({ name }) => categories.map((category) => this.#start + tableOf(name, category)))
    this.#recordTables = categories.map((category) => hashOf(category))
    if (new Set(this.#tables).size < this.#tables.length) {
      const message = 'two layers and categories have names that this store cannot tell apart: rename one of them'
      throw new QuotaError('store_mismatch', message)
    }
  }

  row(layer: number, category: number, subject: Subject): string {
    const key = layerKey(this.schema.layers[layer]!, subject)
    const table = this.#tables[layer * this.schema.categories.length + category]!
    return isWellFormed(key) ? `${table}:${key}` : `${table}!${utf16Hex(key)}`
  }

  /** What the keys of the rows of a layer and a category have behind the prefix: five characters. */
  table(layer: number, category: number): string {
    return this.#tables[layer * this.schema.categories.length + category]!.slice(this.#start.length)
  }

  /** The book of leases of one category and some shared layers. */
  book(category: number, layers: readonly number[]): string {
    const names = layers.map((layer) => this.schema.layers[layer]!.name)
    return `${this.#start}$${hashOf(this.schema.categories[category]!, ...names)}`
  }

  /** The length says where a subject ends, so that no two (subject, id) share a key whatever characters they hold. */
  record(category: number, subject: Subject, id: string): string {
    return this.#record('@', category, subject, id)
  }

  /** The same for records in the form of 60fd3be7, which leases have as well. */
  oldRecord(category: number, subject: Subject, id: string): string {
    return this.#record('#', category, subject, id)
  }

  /** Where the record of an id is, in either form, and the index that names it while it is an open hold's. */
  recordPlace(category: number, subject: Subject, id: string): RecordPlace {
    const [key, oldKey] = [this.record(category, subject, id), this.oldRecord(category, subject, id)]
    return { key, oldKey, ownerIndex: this.holdsOf(subject) }
  }

  /** The same by a record's name in an index; `undefined` for a text that is none. */
  placeNamed(name: string): RecordPlace | undefined {
    const record = this.readRecord(name)
    const rest = name.slice(1)
    return (
      record && {
        key: this.named(`@${rest}`),
        oldKey: this.named(`#${rest}`),
        ownerIndex: this.named(record.indexOfOwner),
      }
    )
  }

  /** The index of the open holds of a subject. */
  holdsOf(subject: Subject): string {
    return `${this.#start}%${safe(idOwnerKey(this.schema, subject))}`
  }

  /** What a key has behind the prefix. */
  nameOf(key: string): string {
    return key.slice(this.#start.length)
  }

  #record(mark: '@' | '#', category: number, subject: Subject, id: string): string {
    const owner = safe(idOwnerKey(this.schema, subject))
    return `${this.#start}${mark}${this.#recordTables[category]!}${owner.length}:${owner}${safe(id)}`
  }

  /** A key by what it has behind the prefix, as records and indexes name rows and records. */
  named(name: string): string {
    return this.#start + name
  }

  /** The parts of a record's name; `undefined` for a text that is none. */
  readRecord(name: string): RecordName | undefined {
    const [start, mark, table, length] = /^([@#])(.{5})(\d+):/.exec(name) ?? []
    if (start === undefined) return undefined
    const idAt = start.length + Number(length)
    return {
      isOld: mark === '#',
      category: this.schema.categories.findIndex((category) => hashOf(category) === table),
      id: unsafe(name.slice(idAt)),
      indexOfOwner: `%${name.slice(start.length, idAt)}`,
    }
  }
}

/** Where the record of an id is. */
export interface RecordPlace {
  readonly key: string
  /** Where the version of 60fd3be7 has it. */
  readonly oldKey: string
  /** The index that names it beside that of all open holds. */
  readonly ownerIndex: string
}

/** What the name of a record says. */
export interface RecordName {
  /** Whether it is in the form of 60fd3be7. */
  readonly isOld: boolean
  /** Index into the schema's categories, -1: it is none of them. */
  readonly category: number
  readonly id: string
  /** The index of its owner's open holds, by what its key has behind the prefix. */
  readonly indexOfOwner: string
}

/** What the keys of the rows of a layer and a category have behind the prefix. */
export function tableOf(layer: string, category: string): string {
  return hashOf(layer, category)
}

/** The subject's key in what a row's key has behind its table; `undefined` where that is no row. */
export function subjectOfRow(rest: string): string | undefined {
  if (rest.startsWith(':')) return rest.slice(1)
  return rest.startsWith('!') ? Buffer.from(rest.slice(1), 'hex').toString('utf16le') : undefined
}

function hashOf(...names: readonly string[]): string {
  const known = JSON.stringify(names)
  const hash = HASHES.get(known) ?? createHash('sha256').update(known).digest('base64url').slice(0, 5)
  if (HASHES.size < MAX_HASHES) HASHES.set(known, hash)
  return hash
}

/** Hashes of names: every record of an id requests one. */
const HASHES = new Map<string, string>()
const MAX_HASHES = 10_000

/** Text that survives UTF-8: as it is, or in hexadecimal behind a mark that well-formed text gets doubled. */
function safe(text: string): string {
  return isWellFormed(text) ? `=${text}` : `!${utf16Hex(text)}`
}

/** Text that was made {@link safe}. */
function unsafe(text: string): string {
  return text.startsWith('=') ? text.slice(1) : Buffer.from(text.slice(1), 'hex').toString('utf16le')
}

function utf16Hex(text: string): string {
  return Buffer.from(text, 'utf16le').toString('hex')
}

/** Without lone surrogates, all of which would be the same three bytes. */
function isWellFormed(text: string): boolean {
  return text.isWellFormed()
}
