/// <reference lib="es2024.string" />
import { createHash } from 'node:crypto'
import { QuotaError } from '@scoregw/quota'
import {
  type Layout,
  layerKey,
  layoutOf,
  type Owner,
  ownerOf,
  type RowLayout,
  type StoreSchema,
  type SubjectKeys,
} from '@scoregw/quota/store'

/**
 * The names of the keys of a policy's counters. All begin with `{prefix}`, so that they share a slot. Tables are
 * identified by names: two policies share counters if they have a layer of the same name.
 *
 * | key | holds |
 * |---|---|
 * | `{prefix}:settings` | the settings in force, beginning with their revision, or the revision announced |
 * | `{prefix}:limits` | the lists of limits that rows and records use, by their hash |
 * | `{prefix}TTTTT:<subject>` | row of one layer; `!` for `:` where the subject is not well-formed text |
 * | `{prefix}$TTTTT` | book of leases, where the shared layers are leased |
 * | `{prefix}@TTTTT<length>:<subject>..<id>` | record of a reservation's id |
 * | `{prefix}:holds` | the open holds, by their end |
 * | `{prefix}%TTTTT<subject>` | those of one subject |
 *
 * `TTTTT` stands for five characters of a hash of names: of a layer; of the shared layers; of the layer whose key owns
 * ids and holds.
 */
export class Keys {
  readonly schema: StoreSchema
  readonly layout: Layout
  /** The cells of every row. */
  readonly rowLayout: RowLayout
  readonly settings: string
  readonly lists: string
  /** The index of all open holds. */
  readonly holds: string
  readonly #start: string
  /** The key's beginning up to the colon, by layer. */
  readonly #tables: readonly string[]

  /** @throws {QuotaError} `store_mismatch`; `store_unsupported` unless layers have equal cells, of which a set has all or none */
  constructor(prefix: string, schema: StoreSchema) {
    this.schema = schema
    this.layout = layoutOf(schema)
    this.rowLayout = uniformRows(this.layout)
    this.#start = `{${prefix}}`
    this.settings = `${this.#start}:settings`
    this.lists = `${this.#start}:limits`
    this.holds = `${this.#start}:holds`
    this.#tables = schema.layers.map(({ name }) => this.#start + tableOf(name))
    if (new Set(this.#tables).size < this.#tables.length) {
      const message = 'two layers or categories have names that this store cannot distinguish: rename one of them'
      throw new QuotaError('store_mismatch', message)
    }
  }

  row(layer: number, subject: SubjectKeys): string {
    const key = layerKey(this.schema.layers[layer]!, subject)
    const table = this.#tables[layer]!
    return isWellFormed(key) ? `${table}:${key}` : `${table}!${utf16Hex(key)}`
  }

  /** The table of a layer's rows, which follows the prefix: five characters. */
  table(layer: number): string {
    return this.#tables[layer]!.slice(this.#start.length)
  }

  /** The key of the book of leases for some shared layers. */
  book(layers: readonly number[]): string {
    return `${this.#start}$${hashOf(...layers.map((layer) => this.schema.layers[layer]!.name))}`
  }

  /** The key of an id's record, and the index that contains it while its hold is open. */
  recordPlace(subject: SubjectKeys, id: string): RecordPlace {
    const { table, key } = ownerName(ownerOf(this.schema, subject))
    // The length marks where a subject ends. Without it, two pairs of subject and id could share a key.
    const record = `${this.#start}@${table}${key.length}:${key}${safe(id)}`
    return { key: record, ownerIndex: this.named(`%${table}${key}`) }
  }

  /** The same by a record's name in an index; `undefined` if the name is invalid. */
  placeNamed(name: string): RecordPlace | undefined {
    const record = this.readRecord(name)
    return record && { key: this.named(name), ownerIndex: this.named(record.indexOfOwner) }
  }

  /** The index of the open holds of a subject. */
  holdsOf(subject: SubjectKeys): string {
    const { table, key } = ownerName(ownerOf(this.schema, subject))
    return this.named(`%${table}${key}`)
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
      id: unsafe(name.slice(idAt)),
      indexOfOwner: `%${table}${name.slice(start.length, idAt)}`,
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
  readonly id: string
  /** The index of its owner's open holds: the key without the prefix. */
  readonly indexOfOwner: string
}

/** The part of a row's key between the prefix and the subject, by layer. */
export function tableOf(layer: string): string {
  return hashOf(layer)
}

/** The parts of names that identify the owner of ids and holds. */
function ownerName({ by, key }: Owner): { readonly table: string; readonly key: string } {
  return { table: hashOf(by), key: safe(key) }
}

/** The cells that all rows have. @throws {QuotaError} `store_unsupported` */
function uniformRows({ rows, counted }: Layout): RowLayout {
  const [first] = rows
  const isWhole = counted.every((layers) =>
    layers.every(({ length }, layer) => length === 0 || length === rows[layer]!.size),
  )
  if (first !== undefined && isWhole && rows.every(({ list }) => list === first.list)) return first
  const message = 'this store needs layers with the same limits, all or none of which count a request'
  throw new QuotaError('store_unsupported', message)
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
