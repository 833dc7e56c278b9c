import { newRevision, type SettingsChange, type StoredDocument } from '@scoregw/quota/store'
import type { SettingsHarness } from '../src/index.ts'
import { announce, type ChangeSettings, entryOf, nameOf, notify, put, twoSettings } from './settings-table.ts'

interface SettingsMutant {
  readonly fault: string
  make(): SettingsHarness
}

function mutant(fault: string, change: ChangeSettings): SettingsMutant {
  return { fault, make: () => twoSettings(change) }
}

const SETTINGS = nameOf('settings')
const OF_ALL: SettingsChange = { kind: 'settings' }

/** Settings stores that are wrong in one way each. */
export const SETTINGS_MUTANTS: readonly SettingsMutant[] = [
  mutant('writes over any revision', (inner) => ({ write: (document) => inner.write(document, {}) })),
  mutant('writes a subject over any revision', (inner) => ({
    writeSubject: (layer, key, document) => inner.writeSubject(layer, key, document, {}),
  })),
  mutant('removes over any revision', (inner) => ({
    writeSubject: (layer, key, document, options) =>
      inner.writeSubject(layer, key, document, document === null ? {} : options),
  })),
  mutant('takes "nothing is stored" for "whatever is stored"', (inner) => ({
    write: (document, options) => inner.write(document, options.ifRevision === '' ? {} : options),
  })),
  mutant('writes over nothing whatever was expected', (inner, table) => ({
    write: (document, options) => inner.write(document, entryOf(table, SETTINGS).version === 0 ? {} : options),
  })),
  mutant('compares first and writes later', (inner, table) => ({
    async write(document, options) {
      const { revision, version } = entryOf(table, SETTINGS)
      if (options.ifRevision !== undefined && options.ifRevision !== revision)
        return { written: false, version, revision }
      await Promise.resolve()
      return inner.write(document, {})
    },
  })),
  mutant('has the version for a revision', (_, table) => ({
    async write(document, options) {
      const reply = put(table, SETTINGS, document, options, OF_ALL)
      if (!reply.written) return reply
      const revision = String(reply.version)
      table.rows.set(SETTINGS, JSON.stringify({ version: reply.version, revision, document }))
      table.announced = revision
      return { ...reply, revision }
    },
  })),
  mutant('has one revision for equal documents', (_, table) => ({
    async write(document, options) {
      const reply = put(table, SETTINGS, document, options, OF_ALL)
      if (!reply.written) return reply
      const revision = JSON.stringify(document)
      table.rows.set(SETTINGS, JSON.stringify({ version: reply.version, revision, document }))
      table.announced = revision
      return { ...reply, revision }
    },
  })),
  mutant('tells nothing of what is stored when it refuses', (inner) => ({
    async write(document, options) {
      const reply = await inner.write(document, options)
      return reply.written ? reply : { written: false, version: 0, revision: '' }
    },
  })),
  mutant('answers with another revision than it stores', (inner) => ({
    async write(document, options) {
      const reply = await inner.write(document, options)
      return reply.written ? { ...reply, revision: newRevision() } : reply
    },
  })),
  mutant('counts no versions', (inner) => ({
    write: async (document, options) => ({ ...(await inner.write(document, options)), version: 1 }),
  })),
  mutant('lays a document over the one before', (inner, table) => ({
    write(document, options) {
      const { document: before } = entryOf(table, SETTINGS)
      return inner.write(Object.assign({}, before, document), options)
    },
  })),
  mutant('answers at once where it says that it is to be awaited', (_, table) => ({
    readSubject: () => entryOf(table, SETTINGS).document as never,
  })),
  mutant('forgets the version of a subject that is removed', (inner, table) => ({
    async writeSubject(layer, key, document, options) {
      const reply = await inner.writeSubject(layer, key, document, options)
      if (document === null && reply.written) table.rows.delete(nameOf('subject', layer, key))
      return reply
    },
  })),
  mutant('lets the revision of a removed subject count', (inner, table) => ({
    async writeSubject(layer, key, document, options) {
      const isGone = entryOf(table, nameOf('subject', layer, key)).document === undefined
      return inner.writeSubject(layer, key, document, isGone ? {} : options)
    },
  })),
  mutant('shows a subject that is removed', (inner, table) => ({
    async writeSubject(layer, key, document, options) {
      const { document: before } = entryOf(table, nameOf('subject', layer, key))
      return inner.writeSubject(layer, key, document === null ? before : document, options)
    },
  })),
  mutant('has one document for a key in all layers', (inner) => ({
    readSubject: (_, key) => inner.readSubject('', key),
    writeSubject: (_, key, document, options) => inner.writeSubject('', key, document, options),
  })),
  mutant('glues layers and keys together', (inner) => ({
    readSubject: (layer, key) => inner.readSubject('', `${layer}-${key}`),
    writeSubject: (layer, key, document, options) => inner.writeSubject('', `${layer}-${key}`, document, options),
  })),
  mutant('writes keys as UTF-8', (inner) => ({
    readSubject: (layer, key) => inner.readSubject(layer, Buffer.from(key).toString()),
    writeSubject: (layer, key, document, options) =>
      inner.writeSubject(layer, Buffer.from(key).toString(), document, options),
  })),
  mutant('tells of subjects as of settings', (_, table) => ({
    watch(listener) {
      const entry = (change: SettingsChange): void => listener(change.kind === 'subject' ? OF_ALL : change)
      table.listeners.add(entry)
      return () => table.listeners.delete(entry)
    },
  })),
  mutant('tells of a change before it is made', (inner, table) => ({
    watch(listener) {
      table.listeners.add(listener)
      return () => table.listeners.delete(listener)
    },
    async write(document, options) {
      notify(table, OF_ALL)
      await new Promise((resolve) => setTimeout(resolve, 1))
      const silent = { ...table, listeners: new Set<never>() }
      const reply = put(silent, SETTINGS, document, options, OF_ALL)
      table.announced = silent.announced
      return reply
    },
    readSubject: (layer, key) => inner.readSubject(layer, key),
  })),
  mutant('keeps each listener once', (inner) => {
    const stops = new Map<unknown, () => void>()
    return {
      watch(listener) {
        const stop = stops.get(listener) ?? inner.watch(listener)
        stops.set(listener, stop)
        return stop
      },
    }
  }),
  mutant('goes on telling after the end of a watch', (inner) => ({
    watch(listener) {
      inner.watch(listener)
      return () => undefined
    },
  })),
  mutant('hears only what others say', (_, table) => ({
    watch(listener) {
      table.listeners.add(listener)
      return () => table.listeners.delete(listener)
    },
  })),
  mutant('takes only higher versions for news', (inner) => {
    let cached: StoredDocument | undefined
    return {
      async read() {
        const stored = await inner.read()
        if (stored !== undefined && stored.version > (cached?.version ?? 0)) cached = stored
        return cached
      },
    }
  }),
  mutant('announces again whatever was announced meanwhile', (_, table) => ({
    async reannounce(revision) {
      table.announced = revision
    },
  })),
  mutant('never announces again', () => ({ reannounce: async () => undefined })),
  mutant('announces again where nothing is announced, and only there', (_, table) => ({
    async reannounce(revision) {
      if (table.announced === '') table.announced = revision
    },
  })),
  mutant('does not announce what it wrote', (inner, table) => ({
    async write(document, options) {
      const before = table.announced
      const reply = await inner.write(document, options)
      table.announced = before
      return reply
    },
  })),
  mutant('tells of writes that it refused, and of no others', (inner, table) => ({
    async write(document, options) {
      const listeners = [...table.listeners]
      table.listeners.clear()
      const reply = await inner.write(document, options)
      for (const listener of listeners) table.listeners.add(listener)
      if (!reply.written) announce(table, OF_ALL)
      return reply
    },
    watch(listener) {
      table.listeners.add(listener)
      return () => table.listeners.delete(listener)
    },
  })),
]
