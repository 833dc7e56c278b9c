import {
  type AsyncSettingsStore,
  newRevision,
  type SettingsChange,
  type StoreWriteOptions,
  type WriteReply,
} from '@scoregw/quota/store'
import type { SettingsHarness } from '../src/index.ts'

type Listener = (change: SettingsChange) => void

/** The stored form of one document; of a removed one its version alone. */
export interface Entry {
  readonly version: number
  readonly revision: string
  readonly document?: unknown
}

/** A database of documents as text, and apart from it the counters, which know a revision: as on SQL and Redis. */
export interface SettingsTable {
  rows: Map<string, string>
  announced: string
  /** Whether the next write is the last thing that its process does. */
  dying: boolean
  readonly listeners: Set<Listener>
}

type SettingsParts = Omit<AsyncSettingsStore, 'close'> & { stop(): void }

const POLL_EVERY_MS = 20
const NOTHING: Entry = { version: 0, revision: '' }

export function entryOf(table: SettingsTable, name: string): Entry {
  const text = table.rows.get(name)
  return text === undefined ? NOTHING : (JSON.parse(text) as Entry)
}

export function nameOf(...names: string[]): string {
  return JSON.stringify(names)
}

export function notify(table: SettingsTable, change: SettingsChange): void {
  for (const listener of [...table.listeners]) queueMicrotask(() => listener(change))
}

/** Notifies of a change of a document; a process that died notifies of nothing. */
export function announce(table: SettingsTable, change: SettingsChange): void {
  if (change.kind === 'settings' && !table.dying) table.announced = entryOf(table, nameOf('settings')).revision
  if (!table.dying) notify(table, change)
  table.dying = false
}

/** Compare-and-set of one document, with a notification to all. */
export function put(
  table: SettingsTable,
  name: string,
  document: unknown,
  { ifRevision }: StoreWriteOptions,
  change: SettingsChange,
): WriteReply {
  const { version, revision, document: before } = entryOf(table, name)
  const stored = before === undefined ? { version: 0, revision: '' } : { version, revision }
  if (ifRevision !== undefined && ifRevision !== stored.revision) return { written: false, ...stored }
  const next = { version: version + 1, revision: document === null ? '' : newRevision() }
  table.rows.set(name, JSON.stringify(document === null ? next : { ...next, document }))
  announce(table, change)
  return document === null ? { written: true, version: 0, revision: '' } : { written: true, ...next }
}

function read(table: SettingsTable, name: string) {
  const { version, revision, document } = entryOf(table, name)
  return document === undefined ? undefined : { version, revision, document }
}

/** A settings store by the book, of one process. It finds changes without a notification by polling. */
function settingsOn(table: SettingsTable): SettingsParts {
  const own = new Set<Listener>()
  let seen = ''
  // Also notifications by others, or a loss right after one would look like nothing at all.
  const look = (): void => {
    seen = JSON.stringify([...table.rows])
  }
  look()
  table.listeners.add(look)
  const poll = setInterval(() => {
    const before = seen
    look()
    if (seen !== before) for (const listener of [...own]) listener({ kind: 'everything' })
  }, POLL_EVERY_MS)
  return {
    sync: false,
    isMarked: true,
    read: async () => read(table, nameOf('settings')),
    readSubject: async (layer, key) => read(table, nameOf('subject', layer, key)),
    write: async (document, options) => put(table, nameOf('settings'), document, options, { kind: 'settings' }),
    writeSubject: async (layer, key, document, options) =>
      put(table, nameOf('subject', layer, key), document, options, { kind: 'subject', layer, key }),
    watch(listener) {
      const entry: Listener = (change) => {
        if (own.has(entry)) listener(change)
      }
      own.add(entry)
      table.listeners.add(entry)
      return () => {
        own.delete(entry)
        table.listeners.delete(entry)
      }
    },
    async reannounce(revision, seenThere) {
      if (table.announced === seenThere) table.announced = revision
    },
    stop: () => clearInterval(poll),
  }
}

export type ChangeSettings = (inner: SettingsParts, table: SettingsTable) => Partial<SettingsParts>

/** Two processes on one table, each with the same fault. */
export function twoSettings(change: ChangeSettings = () => ({})): SettingsHarness {
  const table: SettingsTable = { rows: new Map(), announced: '', dying: false, listeners: new Set() }
  let copy: Pick<SettingsTable, 'rows' | 'announced'> = { rows: new Map(), announced: '' }
  const make = (): SettingsParts => {
    const inner = settingsOn(table)
    return { ...inner, ...change(inner, table) }
  }
  const [store, peer] = [make(), make()]
  return {
    store,
    peer,
    capabilities: ['loss', 'backup', 'announcer'],
    loseData() {
      table.rows = new Map()
      table.announced = ''
    },
    backup() {
      copy = { rows: new Map(table.rows), announced: table.announced }
    },
    restore() {
      table.rows = new Map(copy.rows)
      table.announced = copy.announced
    },
    killAnnouncer() {
      table.dying = true
    },
    announced: () => table.announced,
    stop() {
      store.stop()
      peer.stop()
    },
  }
}
