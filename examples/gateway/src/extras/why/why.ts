import { type Clock, type Decision, type Quota, QuotaError } from '@scoregw/quota'
import type { FactorStore } from '@scoregw/quota/adaptive'
import { invalid } from '../../http/http-error.ts'
import { outerPath, ownLayers, sharedLayers, subjectsOf } from '../../quota/layer-members.ts'
import type { OperationName } from '../../quota/policy.ts'
import type { UsageRecord } from '../../usage/usage-record.ts'
import type { UsageRecorder } from '../../usage/usage-recorder.ts'
import { KEPT_A_USER, type UsageRecords } from '../../usage/usage-records.ts'
import type { UserRepository } from '../../users/user-repository.ts'
import { type Proposal, proposed, type Rules } from './proposal.ts'
import { type Replayed, replay } from './replay.ts'
import { peekUnder } from './trial-engine.ts'

const DAY_MS = 86_400_000

export interface WhyDeps {
  readonly quota: Quota<OperationName>
  readonly users: UserRepository
  readonly usage: { readonly records: UsageRecords; readonly recorder: UsageRecorder }
  readonly factorStore: Pick<FactorStore, 'read'>
  readonly clock: Clock
}

export interface Question {
  readonly userId: string
  /** @default the operation of the user's last refusal, else the policy's first one */
  readonly operation?: OperationName | undefined
  readonly proposal?: Proposal | undefined
  readonly days: number
}

/** Everything known about the refusals of a user. */
export interface Findings {
  readonly operation: OperationName
  readonly now: Decision
  readonly proposed: Decision | undefined
  readonly since: number
  readonly until: number
  /** The oldest first. */
  readonly records: readonly UsageRecord[]
  /** Whether older records of the period were already deleted. */
  readonly isTruncated: boolean
  /** The replayed requests: with the current rules, and with the proposed ones. */
  readonly present: readonly Replayed[]
  readonly future: readonly Replayed[] | undefined
  /** Whether the user's periods start on a day of their own. The replay ignores that. */
  readonly hasOwnPeriods: boolean
}

/** Finds out why a user is refused, and what a change would do. Changes nothing. */
export class Why {
  readonly #deps: WhyDeps

  constructor(deps: WhyDeps) {
    this.#deps = deps
  }

  /** @throws {HttpError} `not_found` for an unknown user, `validation_failed` for impossible rules */
  async explain({ userId, operation: given, proposal, days }: Question): Promise<Findings> {
    const { quota, users, usage, factorStore, clock } = this.#deps
    const { policy } = quota
    await users.require(userId)
    // Include the requests of this process up to now.
    await usage.recorder.flush()
    const until = clock.now() + 1
    const since = until - days * DAY_MS
    const kept = await usage.records.page(userId, undefined, KEPT_A_USER)
    const records = kept.filter(({ at }) => at >= since).sort(inOrder)
    const operation = given ?? lastRefused(records, policy.operations) ?? this.#firstOperation()

    const subject = subjectsOf(policy)(userId)
    const [now, status, rules, stored] = await Promise.all([
      quota.peek({ subject, operation }),
      quota.status(subject),
      this.#rules(userId),
      factorStore.read(),
    ])
    const factor = stored?.state
    const decidable = records.filter((record) => isDecidable(record, policy.operations, sharedLayers(policy)))
    const trial = { policy, userId, factor }
    const found = { operation, now, since, until, records, isTruncated: records.length === KEPT_A_USER }
    const hasOwnPeriods = Object.values(rules.subjects).some(({ anchor }) => anchor !== null)
    return answering(async () => {
      const present = await replay({ ...trial, rules }, decidable)
      if (proposal === undefined) return { ...found, proposed: undefined, present, future: undefined, hasOwnPeriods }
      const other = proposed(policy, rules, operation, proposal, now.now)
      const frozen = { now: () => now.now }
      const peeked = await peekUnder({ ...trial, rules: other, clock: frozen }, operation, status)
      const future = await replay({ ...trial, rules: other }, decidable)
      return { ...found, proposed: peeked, present, future, hasOwnPeriods }
    })
  }

  async #rules(userId: string): Promise<Rules> {
    const { quota } = this.#deps
    const { version: _, revision: _revision, ...settings } = await quota.settings.get()
    const own = await Promise.all(
      ownLayers(quota.policy).map(async (layer) => {
        const { version: _v, revision: _r, ...subject } = await quota.subjects.get(userId, { layer })
        return [layer, subject] as const
      }),
    )
    return { settings, subjects: Object.fromEntries(own) }
  }

  #firstOperation(): OperationName {
    const [first] = Object.keys(this.#deps.quota.policy.operations)
    return first as OperationName
  }
}

/** The oldest first. In one millisecond, admitted requests come before the refusals that they caused. */
function inOrder(a: UsageRecord, b: UsageRecord): number {
  return a.at - b.at || Number(a.refusal !== null) - Number(b.refusal !== null)
}

function lastRefused(records: readonly UsageRecord[], operations: object): OperationName | undefined {
  const last = records.findLast(({ refusal, operation }) => refusal !== null && Object.hasOwn(operations, operation))
  return last?.operation as OperationName | undefined
}

/** Whether a user's records suffice to decide a request again. */
function isDecidable(
  { cost, operation, refusal }: UsageRecord,
  operations: object,
  shared: readonly string[],
): boolean {
  if (cost === null || cost === 0 || !Object.hasOwn(operations, operation)) return false
  return refusal === null || !(shared.includes(refusal.layer) || refusal.kind === 'concurrency')
}

async function answering<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof QuotaError) || error.code !== 'invalid_settings') throw error
    throw invalid(error.faults.map(({ path, message }) => ({ path: `proposal.${outerPath(path)}`, msg: message })))
  }
}
