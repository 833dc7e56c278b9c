import { isObject } from '../options/checks.ts'
import { refusedOptions } from '../options/options-parser.ts'
import { type CountingOf, definePolicy, type PolicyDefinition } from '../policy/define-policy.ts'
import { POLICY_MEMBERS } from '../policy/schema.ts'
import type { Counting, OneUnit } from '../policy/units.ts'
import { quotaOf, type SyncQuotaOptions } from './engine.ts'
import { parseQuotaOptions, type QuotaOptions } from './options.ts'
import type { CallsOf, Quota, SyncCallsOf, SyncQuota } from './quota.ts'

/** Options of an engine with the policy's members among them. */
type WithPolicy<
  O extends { readonly policy: unknown },
  Name extends string,
  Operation extends string,
  By extends string,
  Shared extends string,
  Of extends string,
  Currency extends string,
  Category extends string,
  Unit extends string,
  Plan extends string,
> = Omit<O, 'policy'> & PolicyDefinition<Name, Operation, By, Shared, Of, Currency, Category, Unit, Plan>

/**
 * Makes a quota engine. If both stores are synchronous, as in memory, it has the `...Sync` calls too.
 *
 * @throws {QuotaError} `invalid_options`, `invalid_policy` naming every fault; `store_mismatch`
 * @example
 * const quota = createQuota({ limits: { perQuarter: { by: 'user', limit: 100, per: '15m' } } })
 * const decision = await quota.consume({ subject: 'u42' })
 * if (!decision.allowed) console.log(`wait ${decision.retryAfterSeconds} s`)
 */
// The calls without an operation come first: the compiler explains the last signature, which has the names.
export function createQuota<Operation extends string, C extends Counting = OneUnit>(
  options: SyncQuotaOptions<Operation, C>,
): SyncCallsOf<Operation, C> & SyncQuota<Operation, C>
export function createQuota<Operation extends string, C extends Counting = OneUnit>(
  options: QuotaOptions<Operation, C>,
): CallsOf<Operation, C> & Quota<Operation, C>
export function createQuota<
  const Name extends string,
  const Operation extends string = 'request',
  const By extends string = never,
  const Shared extends string = never,
  const Of extends string = never,
  const Currency extends string = never,
  const Category extends string = never,
  const Unit extends string = 'requests',
  const Plan extends string = string,
>(
  options: WithPolicy<SyncQuotaOptions, Name, Operation, By, Shared, Of, Currency, Category, Unit, Plan>,
): SyncCallsOf<NoInfer<Operation>, CountingOf<Name, By, Shared, Of, Currency, Category, Unit, Plan>> &
  SyncQuota<NoInfer<Operation>, CountingOf<Name, By, Shared, Of, Currency, Category, Unit, Plan>>
export function createQuota<
  const Name extends string,
  const Operation extends string = 'request',
  const By extends string = never,
  const Shared extends string = never,
  const Of extends string = never,
  const Currency extends string = never,
  const Category extends string = never,
  const Unit extends string = 'requests',
  const Plan extends string = string,
>(
  options: WithPolicy<QuotaOptions, Name, Operation, By, Shared, Of, Currency, Category, Unit, Plan>,
): CallsOf<NoInfer<Operation>, CountingOf<Name, By, Shared, Of, Currency, Category, Unit, Plan>> &
  Quota<NoInfer<Operation>, CountingOf<Name, By, Shared, Of, Currency, Category, Unit, Plan>>
export function createQuota(options: unknown): never {
  return quotaOf(parseQuotaOptions(withPolicy(options as object))) as never
}

/** Options with the policy in one member. */
function withPolicy(options: object): QuotaOptions {
  const has = (name: string): boolean => isObject(options) && Object.hasOwn(options, name)
  // A whole policy instead of options is explained with the options.
  if (!has('limits') || has('layers')) return options as unknown as QuotaOptions
  if (has('policy')) {
    const message = 'not with `limits`: write all of the policy here, or pass it as `policy`'
    throw refusedOptions('createQuota()', [{ path: 'policy', message }])
  }
  const of = (isPolicy: boolean): object =>
    Object.fromEntries(Object.entries(options).filter(([name]) => POLICY_MEMBERS.includes(name) === isPolicy))
  return { ...of(false), policy: definePolicy(of(true) as never) } as never
}
