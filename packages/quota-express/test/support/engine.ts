import { createQuota, memoryStore, type OneUnit, type Policy, type Quota, type SyncQuota } from '@scoregw/quota'
import { scoreGatewayPolicy } from '@scoregw/quota/score-gateway'
import type { AsyncCounters, AsyncStore, StoreSchema } from '@scoregw/quota/store'
import type { QuotaLogger, QuotaWarning } from '@scoregw/quota-express'

const START: number = Date.UTC(2026, 7, 6, 14, 6, 26)

export type Operation = 'look' | 'save' | 'huge' | 'free'
export type Tokens = OneUnit<'tokens'>
export type MadeQuota = Quota<Operation, Tokens>

/** Personal write limit of an hour is 10; `save` costs 5. */
export function policy(hourly = 10): Policy<Operation, Tokens> {
  return scoreGatewayPolicy<Operation>({
    operations: {
      look: { category: 'read', cost: 1 },
      save: { category: 'write', cost: 5 },
      huge: { category: 'write', cost: 11 },
      free: { category: 'read', cost: 0 },
    },
    limits: { 'personal-write-1h': hourly, 'site-write-1h': 1_000 },
  })
}

/** Counters in memory that answer later, as a store over a network does; how late is in the test's hands. */
export class LateStore implements AsyncStore {
  readonly sync = false
  /** The test keeps the time. */
  readonly deadlineMs = 60_000
  readonly #inner = memoryStore({ clock: { now: () => START } })
  /** What a settlement waits for; a rejection is a store that does not answer. */
  settles: Promise<void> = Promise.resolve()
  /** What a decision waits for. */
  takes: Promise<void> = Promise.resolve()
  settleCalls = 0

  open(schema: StoreSchema): AsyncCounters {
    const counters = this.#inner.open(schema)
    return {
      take: async (request) => {
        await this.takes
        return counters.take(request)
      },
      read: async (request) => counters.read(request),
      settle: async (request) => {
        this.settleCalls++
        await this.settles
        counters.settle(request)
      },
      reset: async (request) => counters.reset(request),
    }
  }
}

export function syncQuota(hourly?: number): SyncQuota<Operation, Tokens> {
  return createQuota({ policy: policy(hourly), store: memoryStore({ clock: { now: () => START } }) })
}

export function lateQuota(store: LateStore = new LateStore(), hourly?: number): MadeQuota {
  return createQuota({ policy: policy(hourly), store })
}

/** Tokens a subject has used of its hourly write limit. */
export async function used(quota: MadeQuota, subject = 'u1'): Promise<number> {
  return (await quota.status(subject)).limits['personal-write-1h']!.used
}

/** A logger that keeps its warnings and errors. */
export function listening(): QuotaLogger & { readonly warnings: QuotaWarning[]; readonly errors: unknown[] } {
  const warnings: QuotaWarning[] = []
  const errors: unknown[] = []
  return {
    warnings,
    errors,
    warn: (warning) => warnings.push(warning as QuotaWarning),
    error: (error) => errors.push(error),
  }
}
