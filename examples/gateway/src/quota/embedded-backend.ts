import { memoryStore } from '@scoregw/quota'
import type { BackendOptions, QuotaBackend } from './backend.ts'
import { SavedCounters } from './saved-counters.ts'
import { settingsOn } from './settings.ts'

/** How often the counters are saved: a killed process forgets what was charged since. */
const COUNTERS_SAVE_MS = 1_000

/** Counters in this process, saved in the database: for one process. */
export function embeddedBackend({ db, clock, logger, changes }: BackendOptions): QuotaBackend {
  const store = memoryStore({ clock })
  const counters = new SavedCounters({ db, store, clock, logger })
  return {
    name: 'embedded',
    store,
    settings: settingsOn(db, clock, changes),
    chores: [{ what: 'saving the counters', everyMs: COUNTERS_SAVE_MS, run: () => counters.save() }],
    begin: () => counters.restore(),
    finish: () => counters.save(),
  }
}
