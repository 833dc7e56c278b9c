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
  /** @default that of the user's last refusal, else the first that there is */
  readonly operation?: OperationName | undefined
  readonly proposal?: Proposal | undefined
  readonly days: number
}

/** Everything that is known about why a user is, or was, refused. */
export interface Findings {
  readonly operation: OperationName
  readonly now: Decision
  readonly proposed: Decision | undefined
  readonly since: number
  readonly until: number
  /** The oldest first. */
  readonly records: readonly UsageRecord[]
  /** The requested time has older records, which are not kept. */
  readonly isTruncated: boolean
  /** Those that were decided again: under the rules of today, and under those that are proposed. */
  readonly present: readonly Replayed[]
  readonly future: readonly Replayed[] | undefined
  /** The user's periods begin on a day of their own, which the replay does not follow. */
  readonly hasOwnPeriods: boolean
}

/** Finds out why a user is refused, and what would become of it. Changes nothing. */
export class Why {
  readonly #deps: WhyDeps

  constructor(deps: WhyDeps) {
    this.#deps = deps
  }

  /** @throws {HttpError} `not_found` for an unknown user, `validation_failed` for rules that cannot be */
  async ask({ userId, operation: asked, proposal, days }: Question): Promise<Findings> {
    const { quota, users, usage, factorStore, clock } = this.#deps
    const { policy } = quota
    await users.require(userId)
    // So that what this process has just answered is there too.
    await usage.recorder.flush()
    const until = clock.now() + 1
    const since = until - days * DAY_MS
    const kept = await usage.records.page(userId, undefined, KEPT_A_USER)
    const records = kept.filter(({ at }) => at >= since).sort(inOrder)
    const operation = asked ?? lastRefused(records, policy.operations) ?? this.#firstOperation()

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

/** The oldest first; of one millisecond those that were admitted, which is what the others were refused after. */
function inOrder(a: UsageRecord, b: UsageRecord): number {
  return a.at - b.at || Number(a.refusal !== null) - Number(b.refusal !== null)
}

function lastRefused(records: readonly UsageRecord[], operations: object): OperationName | undefined {
  const last = records.findLast(({ refusal, operation }) => refusal !== null && Object.hasOwn(operations, operation))
  return last?.operation as OperationName | undefined
}

/** Whether a request can be decided again from one user's records. */
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
