/// <reference lib="es2024.string" />
import type { Policy } from '@scoregw/quota'
import {
  type Layout,
  layerKey,
  layoutOf,
  nth,
  type Owner,
  ownerOf,
  storeSchema,
  usedLayers,
} from '@scoregw/quota/internal'
import type { LayerSchema, StoreSchema, SubjectKeys, TakeRequest } from '@scoregw/quota/store'

/**
 * The names of the keys of a policy's counters. All begin with `{prefix}`, so that they share a slot. Two policies share
 * counters if they have a layer of the same name.
 *
 * | key | holds |
 * |---|---|
 * | `{prefix}:settings` | the settings in force, beginning with their revision, or the revision announced |
 * | `{prefix}:limits` | the lists of limits that rows and records use, by their hash |
 * | `{prefix}:<layer>:<subject>` | row of one layer; `!` for the second `:` where the subject is not well-formed text |
 * | `{prefix}$<layer>:<layer>..` | book of leases, where the shared layers are leased |
 * | `{prefix}@<layer>:<length>:<subject>..<id>` | record of a reservation's id |
 * | `{prefix}:holds` | the open holds, by their end |
 * | `{prefix}%<layer>:<subject>` | those of one subject |
 *
 * For records and holds, the layer is the one whose key owns them. See {@link tableOf} for how a layer is written.
 */
export class Keys {
  readonly schema: StoreSchema
  readonly layout: Layout
  readonly settings: string
  readonly lists: string
  /** The index of all open holds. */
  readonly holds: string
  readonly #start: string
  readonly #layers: readonly NamedLayer[]

  constructor(prefix: string, schema: StoreSchema) {
    this.schema = schema
    this.layout = layoutOf(schema)
    this.#start = `{${prefix}}`
    this.settings = `${this.#start}:settings`
    this.lists = `${this.#start}:limits`
    this.holds = `${this.#start}:holds`
    this.#layers = schema.layers.map((of) => {
      const table = tableOf(of.name)
      return { of, table, start: `${this.#start}:${table}` }
    })
  }

  #named(layer: number): NamedLayer {
    return nth(this.#layers, layer)
  }

  /** Lone surrogates are written in hexadecimal: UTF-8 would turn all of them into the same three bytes. */
  row(layer: number, subject: SubjectKeys): string {
    const { of, start } = this.#named(layer)
    const key = layerKey(of, subject)
    return key.isWellFormed() ? `${start}:${key}` : `${start}!${utf16Hex(key)}`
  }

  isShared(layer: number): boolean {
    return this.#named(layer).of.shared
  }

  /** The layers of a take's rows, in the order in which scripts read them: shared ones first. */
  layersOf(take: Pick<TakeRequest, 'subject' | 'set' | 'quotas'>): readonly number[] {
    const layers = usedLayers(this.layout, take)
    return [...layers.filter((layer) => this.isShared(layer)), ...layers.filter((layer) => !this.isShared(layer))]
  }

  /** The layer's name as keys contain it. */
  table(layer: number): string {
    return this.#named(layer).table
  }

  /** The layer of a row by its key without the prefix; -1 if the schema lacks it. */
  layerOf(name: string): number {
    const table = /^:([^:!]*)/.exec(name)?.[1]
    return this.#layers.findIndex((layer) => layer.table === table)
  }

  /** The key of the book of leases for some shared layers. */
  book(layers: readonly number[]): string {
    return `${this.#start}$${layers.map((layer) => this.table(layer)).join(':')}`
  }

  /** The key of an id's record, and the index that contains it while its hold is open. */
  recordPlace(subject: SubjectKeys, id: string): RecordPlace {
    const { table, key } = ownerName(ownerOf(this.schema, subject))
    // The length marks where a subject ends. Without it, two pairs of subject and id could share a key.
    const record = `${this.#start}@${table}:${key.length}:${key}${safe(id)}`
    return { key: record, ownerIndex: this.named(`%${table}:${key}`) }
  }

  /** The same by a record's name in an index; `undefined` if the name is invalid. */
  placeNamed(name: string): RecordPlace | undefined {
    const record = this.readRecord(name)
    return record && { key: this.named(name), ownerIndex: this.named(record.indexOfOwner) }
  }

  /** The index of the open holds of a subject. */
  holdsOf(subject: SubjectKeys): string {
    const { table, key } = ownerName(ownerOf(this.schema, subject))
    return this.named(`%${table}:${key}`)
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
    const [start, table, length] = /^@([^:]*):(\d+):/.exec(name) ?? []
    if (start === undefined) return undefined
    const idAt = start.length + Number(length)
    return {
      id: unsafe(name.slice(idAt)),
      indexOfOwner: `%${table}:${name.slice(start.length, idAt)}`,
    }
  }
}

/** A layer and its names. */
interface NamedLayer {
  readonly of: LayerSchema
  /** Its name as keys contain it. */
  readonly table: string
  /** The beginning of its rows' keys. */
  readonly start: string
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

/** Layers whose rows would have names that other keys have: see `SettingsKeys`, `redisFactorStore`, `redisOutcomeStore`. */
const RESERVED = ['settings', 'subject', 'factor', 'outcomes']

/**
 * A layer's name as keys contain it. Everything but letters, digits and `. _ / -` is `%` and four hexadecimal digits, so
 * that it has no colon, and nothing that a `SCAN` pattern would take for a wildcard.
 */
function tableOf(layer: string): string {
  const unusual = RESERVED.includes(layer) ? /^./g : /[^A-Za-z0-9._/-]/g
  return layer.replace(unusual, (unit) => `%${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The parts of names that identify the owner of ids and holds. */
function ownerName({ by, key }: Owner): { readonly table: string; readonly key: string } {
  return { table: tableOf(by), key: safe(key) }
}

/** The subject in the part of a row's key after its table; `undefined` if the key isn't a row's. */
function subjectOfRow(rest: string): string | undefined {
  if (rest.startsWith(':')) return rest.slice(1)
  return rest.startsWith('!') ? Buffer.from(rest.slice(1), 'hex').toString('utf16le') : undefined
}

/** Text that survives UTF-8: `=` and the text or, if it has lone surrogates, `!` and its UTF-16 in hexadecimal. */
function safe(text: string): string {
  return text.isWellFormed() ? `=${text}` : `!${utf16Hex(text)}`
}

/** Text that was made {@link safe}. */
function unsafe(text: string): string {
  return text.startsWith('=') ? text.slice(1) : Buffer.from(text.slice(1), 'hex').toString('utf16le')
}

function utf16Hex(text: string): string {
  return Buffer.from(text, 'utf16le').toString('hex')
}

/** Which keys are the rows of one layer. */
export interface RowTable {
  readonly layer: string
  /** Whether all subjects share one row. */
  readonly shared: boolean
  /** A `SCAN` pattern for the keys. */
  readonly pattern: string
  /** The subject of a row's key, `''` if shared; `undefined` if the key isn't a row of this table. */
  subjectOf(key: string): string | undefined
}

/**
 * The tables of a policy's rows under a prefix, for tools that inspect stored rows. Only the store can read the
 * contents of a row; call `quota.status()` for them.
 */
export function rowTables(prefix: string, policy: Policy): RowTable[] {
  const start = `{${prefix}}:`
  return storeSchema(policy).layers.map(({ name, shared }) => {
    const table = start + tableOf(name)
    return {
      layer: name,
      shared,
      pattern: `${start.replace(/[\\*?[\]]/g, '\\$&')}${tableOf(name)}[:!]*`,
      subjectOf: (key: string) => (key.startsWith(table) ? subjectOfRow(key.slice(table.length)) : undefined),
    }
  })
}
