import {
  type Counting as AnyCounting,
  createQuota as createNamed,
  type Quota as NamedAsyncQuota,
  type QuotaOptions as NamedOptions,
  type SyncQuota as NamedQuota,
  type SyncQuotaOptions as NamedSyncOptions,
} from '@scoregw/quota'
import { initialSettings as initialOf, type StoreSchema, storeSchema as schemaOf } from '@scoregw/quota/store'
import { holdsOf, settingsOf, subjectsOf } from './admin.ts'
import { Shapes } from './convert.ts'
import { namesOf, withNames, writtenOf } from './named.ts'
import type { Counting, OneUnit, Policy, SyncTableQuota, TableQuota, VersionedSettings } from './shapes.ts'

/** Options of an engine over a table. */
export type QuotaOptions<Operation extends string = string, C extends Counting = OneUnit> = Omit<
  NamedOptions,
  'policy'
> & {
  readonly policy: Policy<Operation, C>
}

/** The same with synchronous stores. */
export type SyncQuotaOptions<Operation extends string = string, C extends Counting = OneUnit> = Omit<
  NamedSyncOptions,
  'policy'
> & { readonly policy: Policy<Operation, C> }

/** An engine in both forms. Calls return the shapes of tables. */
export type Quota<Operation extends string = string, C extends Counting = OneUnit> = TableQuota<Operation, C> &
  NamedAsyncQuota<Operation, AnyCounting>
/** The same with synchronous stores. */
export type SyncQuota<Operation extends string = string, C extends Counting = OneUnit> = SyncTableQuota<Operation, C> &
  NamedQuota<Operation, AnyCounting>

type AnyRecord = Readonly<Record<string, unknown>>

const DOOR = Symbol.for('@scoregw/quota/door')

/** Makes an engine with the shapes of tables. */
export function createQuota<Operation extends string, C extends Counting = OneUnit>(
  options: SyncQuotaOptions<Operation, C>,
): SyncQuota<Operation, C>
export function createQuota<Operation extends string, C extends Counting = OneUnit>(
  options: QuotaOptions<Operation, C>,
): Quota<Operation, C>
export function createQuota(options: QuotaOptions): unknown {
  const given = options.policy
  // Computed again, because tests copy policies and change parts of the table.
  const policy = withNames({ ...given, ...writtenOf(given) }, true)
  const quota = createNamed({ ...options, policy } as never) as unknown as NamedQuota<string, AnyCounting>
  const presented = present(quota, policy as Policy)
  const door = (quota as unknown as { readonly [DOOR]: unknown })[DOOR]
  return Object.defineProperty(presented, DOOR, { value: door })
}

/** Presents an engine by name in the shapes of tables. */
function present(quota: NamedQuota<string, AnyCounting>, policy: Policy): object {
  const names = namesOf(policy, true)
  const shapes = new Shapes(policy, names)
  const calls = {
    policy,
    sync: quota.sync,
    get holdTtlMs() {
      return quota.holdTtlMs
    },
    consume: async (request: never) => shapes.decision(await quota.consume(request)),
    peek: async (request: never, options: never) => shapes.decision(await quota.peek(request, options)),
    reserve: async (request: AnyRecord) => shapes.reservation(await quota.reserve(request as never)),
    resume: async (token: string) => shapes.reservation(await quota.resume(token)),
    async run(request: AnyRecord, work: (reservation: object) => unknown) {
      const given = typeof work === 'function' ? (held: object) => work(shapes.reservation(held)) : work
      return shapes.result(await quota.run(request as never, given as never))
    },
    inTransaction(transaction: unknown) {
      const within = quota.inTransaction(transaction)
      return { consume: async (request: never) => shapes.decision(await within.consume(request)) }
    },
    status: async (subject: never, options: never) => shapes.status(await quota.status(subject, options)),
    reset: async (subject: never, options: AnyRecord = {}) => quota.reset(subject, shapes.resetOf(options) as never),
    inForce() {
      const { settings, ...rest } = quota.inForce()
      return { ...rest, settings: shapes.settings(settings as never) }
    },
    settings: settingsOf(quota, shapes),
    subjects: subjectsOf(quota, shapes),
    holds: holdsOf(quota, shapes),
    on: (event: string, listener: (payload: unknown) => unknown) =>
      quota.on(
        event as never,
        (typeof listener === 'function'
          ? (payload: unknown) => listener(shapes.event(event, payload))
          : listener) as never,
      ),
    ready: () => quota.ready(),
    close: () => quota.close(),
  }
  if (!quota.sync) return calls
  return Object.defineProperties(calls, {
    ...Object.getOwnPropertyDescriptors({
      consumeSync: (request: never) => shapes.decision(quota.consumeSync(request)),
      peekSync: (request: never) => shapes.decision(quota.peekSync(request)),
      reserveSync: (request: AnyRecord) => shapes.reservation(quota.reserveSync(request as never)),
      statusSync: (subject: never, options: never) => shapes.status(quota.statusSync(subject, options)),
    }),
  })
}

/** The settings of a table before any change. */
export function initialSettings(policy: Policy): VersionedSettings {
  const named = withNames({ ...policy, ...writtenOf(policy) }, true)
  return new Shapes(policy, namesOf(policy, true)).settings(initialOf(named as never) as never) as VersionedSettings
}

/** Whether an engine has the `...Sync` calls. */
export function isSyncQuota<Operation extends string, C extends Counting>(
  quota: Quota<Operation, C>,
): quota is SyncQuota<Operation, C> {
  return quota.sync
}

/** Returns the counters that a table needs. */
export function storeSchema(policy: Policy): StoreSchema {
  return schemaOf(withNames({ ...policy, ...writtenOf(policy) }, true) as never)
}
