import { type MemoryStore, memorySettings, memoryStore } from '@scoregw/quota'
import { engineOf, type Place, type PolicyName } from './place.ts'

/** Snapshots of memory stores. Their settings end with the process. */
export async function memoryPlace(): Promise<Place> {
  const stores = new Map<PolicyName, MemoryStore>()
  let loaded: Readonly<Partial<Record<PolicyName, readonly unknown[]>>> = {}
  const closers: (() => Promise<void>)[] = []
  return {
    async open(policy, clock, process) {
      const store = memoryStore({ clock })
      for (const part of loaded[policy] ?? []) store.restore(part)
      stores.set(policy, store)
      const party = engineOf(policy, clock, process, { store, settingsStore: memorySettings() })
      closers.push(() => party.quota.close())
      return party
    },
    dump: async () => Object.fromEntries([...stores].map(([policy, store]) => [policy, [...store.snapshot()]])),
    async load(stored) {
      loaded = stored as typeof loaded
    },
    close: async () => void (await Promise.all(closers.map((close) => close()))),
  }
}
