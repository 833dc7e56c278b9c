/// <reference lib="es2024.string" />
import { createHash } from 'node:crypto'
import { QuotaError } from '@scoregw/quota'
import { idOwnerKey, Layout, layerKey, type StoreSchema, type Subject } from '@scoregw/quota/store'

/**
 * The names of the keys of a policy's counters. All begin with `{prefix}`, so that they share a slot. Tables are
 * identified by names: two policies share counters if they have a layer and a category of the same names.
 *
 * | key | holds |
 * |---|---|
 * | `{prefix}:settings` | the settings in force, beginning with their revision, or the revision announced |
 * | `{prefix}:limits` | the lists of limits that rows and records use, by their hash |
 * | `{prefix}TTTTT:<subject>` | row of one layer and category; `!` for `:` where the subject is not well-formed text |
 * | `{prefix}$TTTTT` | book of leases, where the shared layers are leased |
 * | `{prefix}@TTTTT<length>:<subject>..<id>` | record of a reservation's id |
 * | `{prefix}:holds` | the open holds, by their end |
 * | `{prefix}%<subject>` | those of one subject |
 *
 * `TTTTT` stands for five characters of a hash of names: of a layer and a category; of a category and the shared
 * layers; of a category.
 */
export class Keys {
  readonly schema: StoreSchema
  readonly layout: Layout
  readonly settings: string
  readonly lists: string
  /** The index of all open holds. */
  readonly holds: string
  readonly #start: string
  /** The key's beginning up to the colon, by `layer * categories + category`. */
  readonly #tables: readonly string[]
  /** The category's part of a record's name. */
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
      const message = 'two layers and categories have names that this store cannot distinguish: rename one of them'
      throw new QuotaError('store_mismatch', message)
    }
  }

  row(layer: number, category: number, subject: Subject): string {
    const key = layerKey(this.schema.layers[layer]!, subject)
    const table = this.#tables[layer * this.schema.categories.length + category]!
    return isWellFormed(key) ? `${table}:${key}` : `${table}!${utf16Hex(key)}`
  }

  /** The table of the rows of one layer and category, which follows the prefix: five characters. */
  table(layer: number, category: number): string {
    return this.#tables[layer * this.schema.categories.length + category]!.slice(this.#start.length)
  }

  /** The key of the book of leases for one category and some shared layers. */
  book(category: number, layers: readonly number[]): string {
    const names = layers.map((layer) => this.schema.layers[layer]!.name)
    return `${this.#start}$${hashOf(this.schema.categories[category]!, ...names)}`
  }

  /** The length marks where a subject ends. Without it, two pairs of subject and id could share a key. */
  record(category: number, subject: Subject, id: string): string {
    const owner = safe(idOwnerKey(this.schema, subject))
    return `${this.#start}@${this.#recordTables[category]!}${owner.length}:${owner}${safe(id)}`
  }

  /** The key of an id's record, and the index that contains it while its hold is open. */
  recordPlace(category: number, subject: Subject, id: string): RecordPlace {
    return { key: this.record(category, subject, id), ownerIndex: this.holdsOf(subject) }
  }

  /** The same by a record's name in an index; `undefined` if the name is invalid. */
  placeNamed(name: string): RecordPlace | undefined {
    const record = this.readRecord(name)
    return record && { key: this.named(name), ownerIndex: this.named(record.indexOfOwner) }
  }

  /** The index of the open holds of a subject. */
  holdsOf(subject: Subject): string {
    return `${this.#start}%${safe(idOwnerKey(this.schema, subject))}`
  }

  /** A key without the prefix. */
  nameOf(key: string): string {
    return key.slice(this.#start.length)
  }

  /** A key by its name without the prefix, as records and indexes contain it. */
  named(name: string): string {
    return this.#start + name
  }

  /** The parts of a record's name; `undefined` if the name is invalid. */
  readRecord(name: string): RecordName | undefined {
    const [start, table, length] = /^@(.{5})(\d+):/.exec(name) ?? []
    if (start === undefined) return undefined
    const idAt = start.length + Number(length)
    return {
      category: this.schema.categories.findIndex((category) => hashOf(category) === table),
      id: unsafe(name.slice(idAt)),
      indexOfOwner: `%${name.slice(start.length, idAt)}`,
    }
  }
}

/** Where the record of an id is. */
export interface RecordPlace {
  readonly key: string
  /** The index that contains it, in addition to the index of all open holds. */
  readonly ownerIndex: string
}

/** The parts of a record's name. */
export interface RecordName {
  /** Index into the schema's categories; -1 if it is in none of them. */
  readonly category: number
  readonly id: string
  /** The index of its owner's open holds: the key without the prefix. */
  readonly indexOfOwner: string
}

/** The part of a row's key between the prefix and the subject, by layer and category. */
export function tableOf(layer: string, category: string): string {
  return hashOf(layer, category)
}

/** The subject in the part of a row's key after its table; `undefined` if the key isn't a row's. */
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

/** Hashes of names, cached because every record of an id needs one. */
const HASHES = new Map<string, string>()
const MAX_HASHES = 10_000

/** Text that survives UTF-8: `=` and the text or, if it has lone surrogates, `!` and its UTF-16 in hexadecimal. */
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

/** Whether text has no lone surrogates. UTF-8 would turn all of them into the same three bytes. */
function isWellFormed(text: string): boolean {
  return text.isWellFormed()
}
