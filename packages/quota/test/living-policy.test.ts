import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  createQuota,
  type MemoryStore,
  memorySettings,
  memoryStore,
  type Policy,
  type QuotaError,
  type SyncQuota,
  type SyncReservation,
} from '../src/index.ts'
import { initialSettings } from '../src/policy/settings.ts'
import { type Charged, Oracle, type Request } from './living/oracle.ts'
import { policies } from './living/policies.ts'
import { asAnotherProcess, fixture, flatBase, type TestClock, testClock, testPolicy } from './support.ts'

const ID_TTL_MS = 120_000

interface Step {
  readonly kind: 'consume' | 'reserve' | 'cancel' | 'commit' | 'reset' | 'wait' | 'restart'
  /** Which of the processes, subjects, categories, ids, handles: as many as there are. */
  readonly pick: readonly number[]
}

const KINDS: readonly Step['kind'][] = [
  ...Array.from({ length: 16 }, () => 'consume' as const),
  ...Array.from({ length: 24 }, (_, i) => (['reserve', 'cancel', 'commit', 'wait'] as const)[i % 4]!),
  'reset',
  'restart',
]

/** A step is one number, so that sixty of them are soon made; its digits are the choices. */
const step: fc.Arbitrary<Step> = fc.nat(2 ** 31 - 1).map((number) => {
  const pick: number[] = []
  let rest = Math.floor(number / KINDS.length)
  for (let i = 0; i < 6; i++) {
    pick.push(rest % 21)
    rest = Math.floor(rest / 21)
  }
  return { kind: KINDS[number % KINDS.length]!, pick }
})

interface Handle {
  readonly request: Request
  readonly reservation: SyncReservation
  readonly charged: Charged
  readonly holder: number
  readonly id: string | undefined
  readonly fingerprint: string
}

/** Processes with different policies on one store, and the oracle beside them. */
class Trial {
  readonly #policies: readonly Policy[]
  readonly #clock: TestClock = testClock()
  readonly #oracle = new Oracle(ID_TTL_MS)
  #store: MemoryStore
  #processes: SyncQuota[]
  #handles: Handle[] = []
  #holders = 0

  constructor(all: readonly Policy[]) {
    this.#policies = all
    this.#store = memoryStore({ clock: this.#clock })
    this.#processes = all.map((policy) => this.#process(policy))
  }

  #process(policy: Policy): SyncQuota {
    return createQuota({ policy, store: asAnotherProcess(this.#store), clock: this.#clock, idTtlMs: ID_TTL_MS })
  }

  play({ kind, pick }: Step): void {
    const [process, person, category, cost, id, handle] = pick as [number, number, number, number, number, number]
    const which = process % this.#policies.length
    const policy = this.#policies[which]!
    const request = {
      subject: { personal: `p${person % 3}`, team: `t${person % 2}` },
      category: policy.categories[category % policy.categories.length]!,
      cost: 1 + (cost % 6),
    }
    if (kind === 'wait') this.#clock.at += [0, 1, 999, 10_000, 20_000, 60_000, 3_600_000][cost % 7]!
    if (kind === 'restart') this.#restart(handle)
    if (kind === 'reset') this.#reset(which, request)
    if (kind === 'consume') this.#reserve(which, request, undefined)
    if (kind === 'reserve') this.#reserve(which, request, id % 3 === 0 ? undefined : `id-${id % 4}`)
    if (kind === 'cancel' || kind === 'commit') this.#settle(handle, kind, cost)
    this.#compare(which, request)
  }

  /** Everything goes into another store by a snapshot; processes come up in another order. */
  #restart(turn: number): void {
    const parts = JSON.parse(JSON.stringify([...this.#store.snapshot()])) as unknown[]
    this.#store = memoryStore({ clock: this.#clock })
    this.#handles = []
    if (turn % 2 === 0) for (const part of parts) this.#store.restore(part)
    const order = [...this.#policies.keys()].map((index) => (index + turn) % this.#policies.length)
    const made = new Map(order.map((index) => [index, this.#process(this.#policies[index]!)]))
    this.#processes = this.#policies.map((_, index) => made.get(index)!)
    if (turn % 2 === 1) for (const part of parts) this.#store.restore(part)
  }

  #reset(which: number, { subject }: Request): void {
    // A store that answers synchronously has done it when the promise is made.
    this.#processes[which]!.reset(this.#subjectOf(which, subject)).catch(() => undefined)
    this.#oracle.reset(this.#policies[which]!, subject)
  }

  #reserve(which: number, request: Request, id: string | undefined): void {
    const now = this.#clock.at
    const fingerprint = `${request.category}:${request.cost}`
    const known = id === undefined ? undefined : this.#oracle.known(request, id, fingerprint, now)
    const charged = known === undefined ? this.#oracle.take(this.#policies[which]!, request, now) : undefined
    const wanted = known ?? (charged === undefined ? 'refused' : 'reserved')
    const holder = this.#holders++
    if (charged !== undefined && id !== undefined) this.#oracle.remember(request, id, fingerprint, holder, now)
    const { category: operation, cost } = request
    let came: string
    try {
      const subject = this.#subjectOf(which, request.subject)
      const reservation = this.#processes[which]!.reserveSync({ subject, operation, cost, id })
      came = reservation.status
      if (charged !== undefined) this.#handles.push({ request, reservation, charged, holder, id, fingerprint })
    } catch (error) {
      if ((error as QuotaError).code !== 'id_conflict') throw error
      came = 'conflict'
    }
    if (came !== wanted) throw new Error(`${came} instead of ${wanted}`)
  }

  #settle(at: number, kind: 'cancel' | 'commit', cost: number): void {
    if (this.#handles.length === 0) return
    const [handle] = this.#handles.splice(at % this.#handles.length, 1) as [Handle]
    const { request, reservation, charged, holder, id, fingerprint } = handle
    const actual = kind === 'cancel' ? 0 : cost % (request.cost + 1)
    if (kind === 'cancel') reservation.cancel()
    else reservation.commit(actual)
    // A full commit sends the store nothing.
    if (kind === 'commit' && actual === request.cost) return
    const as = kind === 'cancel' ? 'cancelled' : 'committed'
    const isTheirs = id === undefined || this.#oracle.settle(request, id, as, holder, fingerprint, this.#clock.at)
    if (isTheirs) this.#oracle.refund(charged, request.cost - actual)
  }

  #compare(which: number, request: Request): void {
    const { windows } = this.#processes[which]!.statusSync(this.#subjectOf(which, request.subject))
    const came = JSON.stringify(windows[request.category]!.map(({ startedAt, used }) => [startedAt, used]))
    const wanted = JSON.stringify(this.#oracle.status(this.#policies[which]!, request, this.#clock.at))
    if (came !== wanted)
      throw new Error(`${request.category} of ${JSON.stringify(request.subject)}: ${came} instead of ${wanted}`)
  }

  #subjectOf(which: number, { personal, team }: Request['subject']): string | Record<string, string> {
    const hasTeam = this.#policies[which]!.layers.some(({ name }) => name === 'team')
    return hasTeam ? { personal: personal!, team: team! } : personal!
  }
}

describe('processes with different policies on one store', () => {
  it('80 random pairs of policies, edited and rolled back, share exactly the counters that both have', () => {
    fc.assert(
      fc.property(policies, fc.array(step, { minLength: 40, maxLength: 80, size: 'max' }), (all, steps) => {
        const trial = new Trial(all)
        for (const each of steps) trial.play(each)
      }),
      { numRuns: 80 },
    )
  }, 60_000)
})

describe('administrators with different policies', () => {
  const older = testPolicy(flatBase(10, 20))
  const windows = [{ label: '7d', lengthMs: 7 * 86_400_000 }, ...older.windows]
  const layers = [
    ...older.layers,
    { name: 'team', scope: 'Team', shared: false },
    { name: 'org', scope: 'Org', shared: true },
  ]
  const table = (limit: number) =>
    Object.fromEntries(
      layers.map(({ name }) => [
        name,
        Object.fromEntries(
          ['read', 'write', 'admin'].map((category) => [
            category,
            Object.fromEntries(windows.map(({ label }) => [label, limit])),
          ]),
        ),
      ]),
    )
  const newer = {
    ...older,
    windows,
    layers,
    categories: [...older.categories, 'admin'],
    operations: { ...older.operations, grant: { category: 'admin', cost: 1 } },
    base: table(1),
  } as typeof older

  it('an administrator keeps another policy’s values on each write and sees their own values', async () => {
    const settingsStore = memorySettings()
    const old = fixture({ policy: older, settingsStore }).quota
    const next = fixture({ policy: newer, settingsStore }).quota
    const shared = { enabled: true, multiplier: 2 }
    await next.settings.update({
      base: table(500),
      custom: table(700),
      layers: { org: shared, site: shared },
      prices: { grant: 9, write: 5 },
    } as never)
    const overrides = { write: { '7d': 70, '1h': 71 }, admin: { '1d': 72 } }
    await next.subjects.set('u', { overrides, bypass: ['org', 'site'] })

    expect(old.inForce().settings).toMatchObject({ base: flatBase(500, 500), prices: { write: 5 } })
    await old.settings.update({ base: { personal: { write: { '1h': 33 } } }, prices: { write: null } })
    const { version: _, revision: __, ...initial } = initialSettings(older)
    await old.settings.replace({ ...initial, custom: flatBase(44, 44), prices: { read: 6 } })
    await old.subjects.set('u', { overrides: { write: { '1h': 55 } } })

    const { settings } = next.inForce()
    expect(settings.base).toMatchObject({ team: table(500).team!, personal: { admin: table(500).personal!.admin! } })
    expect(settings.base.personal!.write).toEqual({ '7d': 500, '1h': 10, '5h': 10, '1d': 10 })
    expect(settings.custom!.personal!.write).toEqual({ '7d': 700, '1h': 44, '5h': 44, '1d': 44 })
    expect(settings.layers).toEqual({ org: shared, site: { enabled: true, multiplier: 1 } })
    expect(settings.prices).toEqual({ grant: 9, read: 6 })
    const subject = await next.subjects.get('u')
    expect(subject.bypass).toEqual(['org'])
    expect(subject.overrides).toMatchObject({
      write: { '7d': 70, '1h': 55, '5h': null },
      admin: { '1d': 72 },
    })
    expect(await next.settings.faults()).toEqual([])

    await next.settings.update({ mode: 'lenient' })
    await next.subjects.remove('u')
    expect(old.inForce().settings).toMatchObject({ mode: 'lenient', prices: { read: 6 }, base: flatBase(10, 20) })
    expect(await old.subjects.get('u')).toMatchObject({ version: 0, bypass: [] })
  })

  it('an administrator may not write names that their policy doesn’t have, and stored ones aren’t rejected', async () => {
    const settingsStore = memorySettings()
    const old = fixture({ policy: older, settingsStore }).quota
    const next = fixture({ policy: newer, settingsStore }).quota
    await next.settings.update({ prices: { grant: 9 } } as never)
    await expect(old.settings.update({ prices: { grant: 1 } } as never)).rejects.toMatchObject({
      code: 'invalid_settings',
    })
    await expect(old.settings.update({ base: { team: {} } })).rejects.toMatchObject({ code: 'invalid_settings' })
    await expect(old.subjects.set('u', { bypass: ['org'] })).rejects.toMatchObject({ code: 'invalid_settings' })
    expect((await next.settings.get()).prices).toEqual({ grant: 9 })
  })
})
