import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createQuota,
  definePolicy,
  type MemoryStore,
  memorySettings,
  memoryStore,
  type QuotaError,
  type Subject,
  type SyncQuota,
  type SyncReservation,
} from '../src/index.ts'
import { initialSettings } from '../src/internal.ts'
import { type Charged, keyOf, Oracle, type Request } from './living/oracle.ts'
import { type Living, PRICES, policies } from './living/policies.ts'
import { asAnotherProcess, type TestClock, testClock } from './support.ts'

const ID_TTL_MS = 120_000
const HOLD_TTL_MS = 30_000

interface Step {
  readonly kind: 'consume' | 'reserve' | 'hold' | 'settle' | 'reset' | 'wait' | 'restart' | 'block'
  /** Which of the processes, subjects, operations, ids, handles: as many as there are. */
  readonly pick: readonly number[]
}

const KINDS: readonly Step['kind'][] = [
  ...Array.from({ length: 16 }, () => 'consume' as const),
  ...Array.from(
    { length: 36 },
    (_, i) => (['reserve', 'hold', 'settle', 'settle', 'wait', 'reserve'] as const)[i % 6]!,
  ),
  ...(['reset', 'restart', 'block', 'block'] as const),
]

/** A step is one number, so that sixty of them are soon made; its digits are the choices. */
const step: fc.Arbitrary<Step> = fc.nat(2 ** 31 - 1).map((number) => {
  const pick: number[] = []
  let rest = Math.floor(number / KINDS.length)
  for (let i = 0; i < 6; i++) {
    pick.push(rest % 19)
    rest = Math.floor(rest / 19)
  }
  return { kind: KINDS[number % KINDS.length]!, pick }
})

/** A charge that may be given back. */
interface Handle {
  readonly request: Request
  readonly reservation: Extract<SyncReservation, { status: 'reserved' }>
  readonly charged: Charged
  readonly holder: number
  readonly idKey: string | undefined
  readonly fingerprint: string
  /** Whose id or hold it is, as its policy says. */
  readonly owners: string
  /** Of a hold: when it ends. */
  readonly endsAt: number | undefined
}

/** Processes with different policies on one store, and the oracle beside them. */
class Trial {
  readonly #all: readonly Living[]
  readonly #clock: TestClock = testClock()
  readonly #settingsStore = memorySettings()
  readonly #oracle = new Oracle(ID_TTL_MS)
  #store: MemoryStore
  #processes: SyncQuota[]
  #handles: Handle[] = []
  #holders = 0
  /** How often something happened that only some histories have. */
  readonly seen = { resumed: 0, expired: 0, blocked: 0, numbers: 0, absent: 0 }

  constructor(all: readonly Living[]) {
    this.#all = all
    this.#store = memoryStore({ clock: this.#clock })
    this.#processes = all.map((living) => this.#process(living))
  }

  #process({ policy }: Living): SyncQuota {
    const [store, settingsStore] = [asAnotherProcess(this.#store), this.#settingsStore]
    return createQuota({ policy, store, settingsStore, clock: this.#clock, idTtlMs: ID_TTL_MS, logger: false })
  }

  async play({ kind, pick }: Step): Promise<void> {
    const [process, person, operation, cost, id, handle] = pick as [number, number, number, number, number, number]
    const which = process % this.#all.length
    const request = this.#requestOf(which, person, operation, cost)
    if (kind === 'wait') this.#clock.at += [0, 1, 999, 10_000, 20_000, 60_000, 3_600_000][cost % 7]!
    this.#endHolds()
    if (kind === 'restart') this.#restart(handle)
    if (kind === 'reset') await this.#reset(which, request)
    if (kind === 'consume') this.#take(which, request)
    if (kind === 'reserve') this.#take(which, request, { id: id % 3 === 0 ? undefined : `id-${id % 4}` })
    if (kind === 'hold') this.#take(which, request, { ttlMs: HOLD_TTL_MS })
    if (kind === 'settle') await this.#settle(which, handle, cost)
    if (kind === 'block') await this.#block(which, request, 1 + 1_000 * cost)
    this.#compare(which, request)
  }

  #requestOf(which: number, person: number, at: number, cost: number): Request {
    const { limits } = this.#all[which]!
    const operation = (['list', 'save', 'work', 'list', 'save', 'health'] as const)[at % 6]!
    const hasBoth = this.#ownLayers(which).length === 2
    const subject = { user: `p${person % 3}`, team: `t${person % 2}` }
    const absent = hasBoth ? ([{ user: null }, { team: null }][(at + person) % 5] ?? {}) : {}
    if (Object.keys(absent).length > 0) this.seen.absent++
    // Of a shared limit, and of none, a number has no effect.
    const names = [...Object.keys(limits), 'unknown']
    const number = [cost, null, undefined][(at + cost) % 6]
    const numbers = { [names[at % names.length]!]: number }
    if (typeof number === 'number') this.seen.numbers++
    const price = PRICES[operation] === 0 ? 0 : 1 + (cost % 6)
    return { subject: { ...subject, ...absent }, operation, cost: price, limits: numbers }
  }

  /** The layers of subjects' own, in the policy's order. */
  #ownLayers(which: number): readonly string[] {
    return this.#all[which]!.policy.layers.flatMap(({ name, shared }) => (shared ? [] : [name]))
  }

  #subjectOf(which: number, subject: Request['subject']): Subject {
    const [by, other] = this.#ownLayers(which)
    return other === undefined ? keyOf({ by }, subject)! : subject
  }

  /** Everything goes into another store by a snapshot; processes come up in another order. */
  #restart(turn: number): void {
    const parts = JSON.parse(JSON.stringify([...this.#store.snapshot()])) as unknown[]
    this.#store = memoryStore({ clock: this.#clock })
    // Holds go on: others resume them by their tokens.
    this.#handles = this.#handles.filter(({ endsAt }) => endsAt !== undefined)
    if (turn % 2 === 0) for (const part of parts) this.#store.restore(part)
    const order = [...this.#all.keys()].map((index) => (index + turn) % this.#all.length)
    const made = new Map(order.map((index) => [index, this.#process(this.#all[index]!)]))
    this.#processes = this.#all.map((_, index) => made.get(index)!)
    if (turn % 2 === 1) for (const part of parts) this.#store.restore(part)
  }

  async #reset(which: number, { subject }: Request): Promise<void> {
    await this.#processes[which]!.reset(this.#subjectOf(which, subject))
    this.#oracle.reset(this.#all[which]!, subject)
  }

  async #block(which: number, { subject }: Request, ms: number): Promise<void> {
    if (subject.user === null || !this.#ownLayers(which).includes('user')) return
    const until = this.#clock.at + ms
    await this.#processes[which]!.subjects.set({ user: subject.user }, { blocked: true, until: { blocked: until } })
    this.#oracle.block(subject.user, until)
  }

  #take(
    which: number,
    request: Request,
    given: { readonly id?: string | undefined; readonly ttlMs?: number } = {},
  ): void {
    const [now, living] = [this.#clock.at, this.#all[which]!]
    const { operation, cost, limits } = request
    const isWork = this.#oracle.isWork(living, operation)
    const ttlMs = isWork ? HOLD_TTL_MS : given.ttlMs
    const id = cost === 0 || ttlMs !== undefined ? undefined : given.id
    const subject = this.#subjectOf(which, request.subject)
    const owners = JSON.stringify(this.#ownLayers(which))
    const owner = this.#ownLayers(which).find((by) => keyOf({ by }, request.subject) !== null)!
    const idKey = id && JSON.stringify([owner, keyOf({ by: owner }, request.subject), id])
    const fingerprint = `${operation}:${cost}`

    const blockedUntil = this.#oracle.blockedUntil(living, request, now)
    const known = idKey && blockedUntil === undefined ? this.#oracle.known(idKey, fingerprint, now) : undefined
    const charged = known === undefined ? this.#oracle.take(living, request, now) : undefined
    const wanted = known ?? (charged === undefined ? 'refused' : 'reserved')
    const holder = this.#holders++
    if (charged !== undefined && idKey !== undefined) this.#oracle.remember(idKey, fingerprint, holder, now)

    const common = { subject, operation, cost, limits } as const
    if (ttlMs === undefined && id === undefined && !('id' in given)) {
      const decision = this.#processes[which]!.consumeSync(common)
      this.#require(decision.allowed ? 'reserved' : 'refused', wanted)
      if (blockedUntil === undefined || decision.allowed) return
      this.seen.blocked++
      this.#require([decision.source, decision.retryAfterMs], ['blocked', blockedUntil - now])
      return
    }
    let reservation: SyncReservation | undefined
    try {
      reservation = this.#processes[which]!.reserveSync({ ...common, id, ttlMs: cost === 0 ? undefined : ttlMs })
    } catch (error) {
      if ((error as QuotaError).code !== 'id_conflict') throw error
    }
    this.#require(reservation?.status ?? 'conflict', wanted)
    if (reservation?.status !== 'reserved' || charged === undefined || cost === 0) return
    const endsAt = ttlMs && now + ttlMs
    this.#handles.push({ request, reservation, charged, holder, idKey, fingerprint, owners, endsAt })
  }

  #endHolds(): void {
    const isOver = ({ endsAt }: Handle): boolean => endsAt !== undefined && endsAt <= this.#clock.at
    for (const { charged, request } of this.#handles.filter(isOver)) {
      this.#oracle.refund(charged, request.cost)
      this.seen.expired++
    }
    this.#handles = this.#handles.filter((handle) => !isOver(handle))
  }

  /** Holds are settled by any process whose subjects have the same keys, whatever it counts. */
  async #settle(which: number, at: number, cost: number): Promise<void> {
    const [handle] = this.#handles.splice(at % (this.#handles.length || 1), 1)
    if (handle === undefined) return
    const { request, reservation, charged, holder, idKey, fingerprint, owners, endsAt } = handle
    const actual = cost % 2 === 0 ? 0 : cost % (request.cost + 1)
    if (endsAt !== undefined) {
      const hasSameKeys = owners === JSON.stringify(this.#ownLayers(which))
      if (!hasSameKeys) return void this.#handles.push(handle)
      this.seen.resumed++
    }
    const settled = endsAt === undefined ? reservation : await this.#processes[which]!.resume(reservation.token!)
    if (cost % 2 === 0) await settled.cancel()
    else await settled.commit(actual)
    // A full commit sends the store nothing, unless it ends a hold.
    if (cost % 2 === 1 && actual === request.cost && endsAt === undefined) return
    const as = cost % 2 === 0 ? 'cancelled' : 'committed'
    const isTheirs = idKey === undefined || this.#oracle.settle(idKey, as, holder, fingerprint, this.#clock.at)
    if (isTheirs) this.#oracle.refund(charged, request.cost - actual)
  }

  #compare(which: number, request: Request): void {
    const { limits } = this.#processes[which]!.statusSync(this.#subjectOf(which, request.subject))
    const came = Object.entries(limits).map(([name, limit]) => [name, [limit?.startedAt, limit?.used]])
    this.#require(Object.fromEntries(came), this.#oracle.status(this.#all[which]!, request, this.#clock.at))
  }

  #require(came: unknown, wanted: unknown): void {
    const [one, other] = [came, wanted].map((each) => JSON.stringify(each))
    if (one !== other) throw new Error(`${one} instead of ${other}`)
  }
}

describe('processes with different policies on one store', () => {
  it('80 random pairs of policies, edited and rolled back, share exactly the counters that both have', async () => {
    const seen: Trial['seen'] = { resumed: 0, expired: 0, blocked: 0, numbers: 0, absent: 0 }
    await fc.assert(
      fc.asyncProperty(policies, fc.array(step, { minLength: 40, maxLength: 80, size: 'max' }), async (all, steps) => {
        const trial = new Trial(all)
        for (const each of steps) await trial.play(each)
        for (const key of Object.keys(seen) as (keyof typeof seen)[]) seen[key] += trial.seen[key]
      }),
      { numRuns: 80 },
    )
    // A check that meets nothing shows nothing.
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(20)
  }, 60_000)
})

describe('administrators with different policies', () => {
  const limits = {
    perHour: { by: 'user', limit: 10, per: '1h' },
    perDay: { by: 'user', limit: 10, per: '1d' },
    site: { shared: 'site', limit: 20, per: '1h' },
  } as const
  const older = definePolicy({ limits, operations: { read: {}, write: {} } })
  const newer = definePolicy({
    limits: {
      ...limits,
      perWeek: { by: 'user', limit: 1, per: '7d' },
      ofTeam: { by: 'team', limit: 1, per: '1h' },
      ofOrg: { shared: 'org', limit: 1, per: '1h' },
    },
    operations: { read: {}, write: {}, grant: {} },
  })
  const ofOlder = (number: number) => ({ perHour: number, perDay: number, site: number })
  const ofNewer = (number: number) => ({ perWeek: number, ofTeam: number, ofOrg: number })

  function engines() {
    const settingsStore = memorySettings()
    return {
      old: createQuota({ policy: older, settingsStore, logger: false }),
      next: createQuota({ policy: newer, settingsStore, logger: false }),
    }
  }

  it('an administrator keeps another policy’s values on each write and sees their own values', async () => {
    const { old, next } = engines()
    const shared = { enabled: true, multiplier: 2 }
    await next.settings.update({
      limits: { ...ofOlder(500), ...ofNewer(500) },
      custom: { ...ofOlder(700), ...ofNewer(700) },
      shared: { org: shared, site: shared },
      prices: { grant: 9, write: 5 },
    })
    await next.subjects.set({ user: 'u' }, { limits: { perWeek: 70, perHour: 71 }, bypass: { org: true, site: true } })

    expect(old.settings.current().settings).toMatchObject({ limits: ofOlder(500), prices: { write: 5 } })
    await old.settings.update({ limits: { perHour: 33 }, prices: { write: null } })
    const { version: _, revision: __, ...initial } = initialSettings(older)
    await old.settings.replace({ ...initial, custom: ofOlder(44), prices: { read: 6 } })
    await old.subjects.set('u', { limits: { perHour: 55 } })

    const { settings } = next.settings.current()
    expect(settings.limits).toEqual({ perHour: 10, perDay: 10, site: 20, ...ofNewer(500) })
    expect(settings.custom).toEqual({ ...ofOlder(44), ...ofNewer(700) })
    expect(settings.shared).toEqual({ org: shared, site: { enabled: true, multiplier: 1 } })
    expect(settings.prices).toEqual({ grant: 9, read: 6 })
    const subject = await next.subjects.get({ user: 'u' })
    expect(subject.bypass).toEqual({ org: true })
    expect(subject.limits).toEqual({ perHour: 55, perDay: null, perWeek: 70 })
    expect(await next.settings.faults()).toEqual([])

    await next.settings.update({ mode: 'lenient' })
    await next.subjects.remove({ user: 'u' })
    expect(old.settings.current().settings).toMatchObject({
      mode: 'lenient',
      prices: { read: 6 },
      limits: { ...ofOlder(10), site: 20 },
    })
    expect(await old.subjects.get('u')).toMatchObject({ version: 0, bypass: {} })
  })

  it('an administrator may not write names that their policy doesn’t have, and stored ones aren’t rejected', async () => {
    const { old, next } = engines()
    await next.settings.update({ prices: { grant: 9 } })
    const invalid = { code: 'invalid_settings' }
    await expect(old.settings.update({ prices: { grant: 1 } })).rejects.toMatchObject(invalid)
    await expect(old.settings.update({ limits: { ofTeam: 3 } as never })).rejects.toMatchObject(invalid)
    await expect(old.subjects.set('u', { bypass: { org: true } as never })).rejects.toMatchObject(invalid)
    expect((await next.settings.get()).prices).toEqual({ grant: 9 })
  })
})
