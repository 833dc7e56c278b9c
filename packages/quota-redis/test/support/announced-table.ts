import type { memorySettings } from '@scoregw/quota'
import type { AsyncSettingsStore, SettingsChange, StoreWriteOptions, WriteReply } from '@scoregw/quota/store'
import type { RedisBroadcast } from '../../src/index.ts'

/** How often a process looks at the table by itself, in milliseconds: an announcer may die. */
const LOOK_EVERY_MS = 200

/** Settings in a table that stands for one in SQL, as one of several processes has it: each other's changes are announced. */
export function announced(
  table: ReturnType<typeof memorySettings>,
  bus: RedisBroadcast,
  dying: { readonly next: boolean } = { next: false },
): AsyncSettingsStore {
  async function notify(reply: WriteReply, change: SettingsChange): Promise<WriteReply> {
    if (!reply.written) return reply
    if (dying.next) throw new Error('the process died')
    await bus.announce(table.read()?.revision ?? '', change)
    return reply
  }
  const timers = new Set<NodeJS.Timeout>()
  return {
    sync: false,
    isMarked: true,
    read: async () => table.read(),
    readSubject: async (layer, key) => table.readSubject(layer, key),
    write: (document: unknown, options: StoreWriteOptions) =>
      notify(table.write(document, options), { kind: 'settings' }),
    writeSubject: (layer, key, document, options) =>
      notify(table.writeSubject(layer, key, document, options), { kind: 'subject', layer, key }),
    watch(listener) {
      let seen = table.read()?.revision
      const look = (): void => {
        const { revision } = table.read() ?? {}
        if (revision !== seen) listener({ kind: 'settings' })
        seen = revision
      }
      const timer = setInterval(look, LOOK_EVERY_MS).unref()
      timers.add(timer)
      const stop = bus.watch(listener)
      return () => {
        clearInterval(timer)
        stop()
      }
    },
    reannounce: (revision, seen) => bus.reannounce(revision, seen),
    close() {
      for (const timer of timers) clearInterval(timer)
      bus.close()
    },
  }
}
