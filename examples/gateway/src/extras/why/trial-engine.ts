import {
  type Clock,
  createQuota,
  type Decision,
  type MemoryStore,
  memorySettings,
  memoryStore,
  type QuotaStatus,
  type SyncQuota,
  type WindowStatus,
} from '@scoregw/quota'
import { type FactorState, initialFactor, memoryFactor } from '@scoregw/quota/adaptive'
import { luxonCalendar } from '@scoregw/quota/calendar'
import { type StoreSchema, storeSchema } from '@scoregw/quota/store'
import { subjectsOf } from '../../quota/layer-members.ts'
import type { GatewayPolicy, OperationName } from '../../quota/policy.ts'
import type { Rules } from './proposal.ts'

export interface TrialDeps {
  readonly policy: GatewayPolicy
  readonly userId: string
  readonly rules: Rules
  /** The current factor of mode `adaptive`. */
  readonly factor: FactorState | undefined
  readonly clock: Clock
}

/** An engine like the gateway's, with its own rules and memory counters. */
interface Trial {
  readonly quota: SyncQuota<OperationName>
  readonly store: MemoryStore
}

/** @throws {QuotaError} `invalid_settings` for invalid rules */
export async function trialEngine({ policy, userId, rules, factor, clock }: TrialDeps): Promise<Trial> {
  const store = memoryStore({ clock })
  const known = memoryFactor()
  known.compareAndSet(0, 0, factor ?? initialFactor())
  const quota = createQuota({
    policy,
    store,
    settingsStore: memorySettings(),
    clock,
    calendar: luxonCalendar(),
    adaptive: { factor: known },
    // The gateway's own engine has already logged the policy's warnings.
    logger: false,
  })
  await quota.settings.replace(rules.settings)
  for (const [layer, { overrides, bypass, plan, until }] of Object.entries(rules.subjects)) {
    await quota.subjects.set(userId, { overrides, bypass, plan, until }, { layer })
  }
  return { quota, store }
}

/**
 * Returns the decision that other rules would give now. All counters, including shared ones, are copied to a memory
 * store, where a real engine decides. The real counters are only read.
 */
export async function peekUnder(parts: TrialDeps, operation: OperationName, status: QuotaStatus): Promise<Decision> {
  const { policy, userId, clock } = parts
  const { quota, store } = await trialEngine(parts)
  try {
    store.restore(snapshotOf(storeSchema(policy), userId, status, clock.now()))
    return await quota.peek({ subject: subjectsOf(policy)(userId), operation })
  } finally {
    await quota.close()
  }
}

const NOT_OPEN = [-1, -1]

function snapshotOf({ cells, layers, categories }: StoreSchema, userId: string, status: QuotaStatus, now: number) {
  const identities = cells.map(({ identity }) => identity)
  const places = layers.flatMap((layer) => categories.map((category) => ({ layer, category })))
  return {
    format: 1,
    tables: places.map(({ layer, category }) => ({ layer: layer.name, category, cells: identities })),
    rows: places.map(({ layer, category }, index) => {
      const known = (status.windows[category] ?? []).filter((window) => window.layer === layer.name)
      const numbers = cells.flatMap(({ label }) => {
        const window = known.find((each) => each.window === label)
        return window === undefined || window.used === 0
          ? NOT_OPEN
          : [window.startedAt ?? now, chargedIn(window, status.now)]
      })
      return [index, layer.shared ? '' : userId, numbers]
    }),
    ids: [],
  }
}

/** The count in a window's cell. For a bucket, it includes the tokens that have returned. */
function chargedIn({ kind, used, limit, lengthMs, startedAt }: WindowStatus, now: number): number {
  if (kind !== 'bucket' || limit === 'unlimited' || startedAt === null || startedAt >= now) return used
  return used + Number((BigInt(now - startedAt) * BigInt(limit)) / BigInt(lengthMs as number))
}
