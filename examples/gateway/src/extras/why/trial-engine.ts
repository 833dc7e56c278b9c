import { type Clock, createQuota, type MemoryStore, memorySettings, memoryStore, type SyncQuota } from '@scoregw/quota'
import { type FactorState, initialFactor, memoryFactor } from '@scoregw/quota/adaptive'
import { luxonCalendar } from '@scoregw/quota/calendar'
import type { GatewayPolicy, OperationName } from '../../quota/policy.ts'
import type { Rules } from './proposal.ts'

export interface TrialParts {
  readonly policy: GatewayPolicy
  readonly userId: string
  readonly rules: Rules
  /** Where the factor of mode `adaptive` stands. */
  readonly factor: FactorState | undefined
  readonly clock: Clock
}

/** An engine like the gateway's, with rules and counters of its own, in memory. */
export interface Trial {
  readonly quota: SyncQuota<OperationName>
  readonly store: MemoryStore
}

/** @throws {QuotaError} `invalid_settings` where the rules are none */
export async function trialEngine({ policy, userId, rules, factor, clock }: TrialParts): Promise<Trial> {
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
    // The gateway's own engine has warned of this policy.
    logger: false,
  })
  await quota.settings.replace(rules.settings)
  for (const [layer, { overrides, bypass, plan, until }] of Object.entries(rules.subjects)) {
    await quota.subjects.set(userId, { overrides, bypass, plan, until }, { layer })
  }
  return { quota, store }
}
