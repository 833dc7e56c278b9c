import { memoryStore } from '@scoregw/quota'
import { type BackendOptions, type QuotaBackend, SETTINGS_POLL_MS } from './backend.ts'
import { SavedCounters } from './saved-counters.ts'
import { SqlSettings } from './sql-settings.ts'

/** How often the counters are saved: a killed process forgets what was charged since. */
const COUNTERS_SAVE_MS = 1_000

/** Counters in this process, saved in the database: for one process. */
export async function embeddedBackend({ db, clock, logger }: BackendOptions): Promise<QuotaBackend> {
  const store = memoryStore({ clock })
  const settings = await SqlSettings.open(db, clock)
  const counters = new SavedCounters({ db, store, clock, logger })
  return {
    name: 'embedded',
    store,
    settings,
    chores: [
      { what: 'looking for changed settings', everyMs: SETTINGS_POLL_MS, run: () => settings.poll() },
      { what: 'saving the counters', everyMs: COUNTERS_SAVE_MS, run: () => counters.save() },
    ],
    begin: () => counters.restore(),
    finish: () => counters.save(),
  }
}
