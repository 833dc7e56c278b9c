import { storeSchema } from '@scoregw/quota/store'
import { type PostgresPool, postgresStore } from '@scoregw/quota-sql'
import { COUNTERS } from '../db/schema.ts'
import { type BackendOptions, type QuotaBackend, StoreWatch } from './backend.ts'
import { subjectsOf } from './layer-members.ts'
import { settingsOn } from './settings.ts'

/** How often to check the counters, for the log. */
const WATCH_MS = 1_000

/** The deadline of a decision in milliseconds, the same as that of settings in this database. */
const DEADLINE_MS = 1_000

export interface PostgresBackendOptions extends BackendOptions {
  /** The counters' own connections, which close with them. */
  readonly pool: PostgresPool & { end(): Promise<void> }
}

/**
 * Counters and settings in PostgreSQL, shared by all processes with the same database. Requests are charged before
 * their work. In its transaction, they would lock the site's row until the commit, and throughput would drop to a
 * third.
 */
export function postgresBackend({ db, clock, logger, policy, changes, pool }: PostgresBackendOptions): QuotaBackend {
  const store = postgresStore({ pool, prefix: COUNTERS, deadlineMs: DEADLINE_MS })
  const counters = store.open(storeSchema(policy))
  const ended = { close: () => store.close().then(() => pool.end()) }
  const probe = subjectsOf(policy)('nobody')
  const check = async (): Promise<void> => {
    await counters.read({ subject: probe, categories: [0], layers: [0] })
  }
  const watch = new StoreWatch('PostgreSQL', check, logger)
  return {
    name: 'PostgreSQL',
    store: {
      sync: false,
      can: store.can,
      deadlineMs: store.deadlineMs,
      open: (schema) => store.open(schema),
      ...ended,
    },
    settings: settingsOn(db, clock, changes),
    chores: [
      {
        what: 'checking whether the counters are available',
        everyMs: WATCH_MS,
        run: async () => void (await watch.check()),
      },
    ],
    check,
    checked: 'the counters',
    async begin() {
      await watch.check()
    },
    finish: () => Promise.resolve(),
  }
}
