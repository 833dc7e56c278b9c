import assert from 'node:assert/strict'
import { type CellDefinition, layerKey, windowCell } from '@scoregw/quota/internal'
import type { QuotaStore } from '@scoregw/quota/store'
import type { ConformanceCase, RowName } from './harness.ts'
import {
  DAY,
  DAY_MS,
  FIVE_HOURS,
  HOUR,
  HOUR_MS,
  inEach,
  type LayerOf,
  type Limits,
  MINUTE_MS,
  SITE,
  SIX,
  TEAM,
  USER,
  WRITES,
} from './limits.ts'
import { Probe, type Terms } from './probe.ts'
import { casesOn, needing, type Play, type Scene } from './scene.ts'

function lasting(lengthMs: number, label = `${lengthMs / MINUTE_MS}m`): CellDefinition {
  return windowCell({ label, lengthMs })
}

/** The policy before each edit. */
const BEFORE = SIX
const TEN_MINUTES = lasting(10 * MINUTE_MS)
const TWO_HOURS = lasting(2 * HOUR_MS)
const ALL: LayerOf = { name: 'all', shared: true }
const LAYERS = [USER, SITE] as const
const CELLS = [HOUR, FIVE_HOURS, DAY] as const
/** A key for each layer that an edit may add. */
const SUBJECT = { user: 'u', team: 't' }
const TERMS: Terms = { subject: SUBJECT }

/** The edits of a policy in use. */
const EDITS: Readonly<Record<string, Limits>> = {
  'a shortest window is added': inEach(LAYERS, TEN_MINUTES, ...CELLS),
  'a window as long as another is added': inEach(LAYERS, lasting(HOUR_MS), ...CELLS),
  'the shortest window is removed': inEach(LAYERS, FIVE_HOURS, DAY),
  'a window becomes longer': inEach(LAYERS, lasting(2 * HOUR_MS, '1h'), FIVE_HOURS, DAY),
  'a window gets another label': inEach(LAYERS, HOUR, lasting(5 * HOUR_MS, 'shift'), DAY),
  'two windows change labels': inEach(LAYERS, lasting(5 * HOUR_MS, '1h'), lasting(HOUR_MS, '5h'), DAY),
  'all windows are replaced': inEach(LAYERS, TWO_HOURS),
  'a shared layer is added in front': inEach([ALL, USER, SITE], ...CELLS),
  'a layer of the same subjects is added in front': inEach([WRITES, USER, SITE], ...CELLS),
  'a layer of teams is added': inEach([USER, TEAM, SITE], ...CELLS),
  'layers change places': inEach([SITE, USER], ...CELLS),
  'the shared layer is removed': inEach([USER], ...CELLS),
  'everything changes': inEach([WRITES, ALL, SITE, USER], TEN_MINUTES, DAY, TWO_HOURS),
}

/** The counters of limits, by the limits' names. */
function countersOf({ limits }: Limits): Readonly<Record<string, string>> {
  const named = Object.entries(limits).map(([name, [layer, { identity }]]) => {
    return [name, JSON.stringify([layer.name, layerKey(layer, SUBJECT), identity])] as const
  })
  return Object.fromEntries(named)
}

/** Two policies charge, refund and reset in turn. What both name is one counter, and everything else is their own. */
function goesOn(after: Limits): Play {
  return async ({ store, peer, advance }: Scene) => {
    const sideOf = (own: QuotaStore, limits: Limits) => {
      return { probe: new Probe(own, limits, 99), counters: countersOf(limits) }
    }
    const [old, renewed] = [sideOf(store, BEFORE), sideOf(peer, after)]
    const used = new Map<string, number>()
    const note = ({ counters }: typeof old, change: (used: number) => number): void => {
      for (const name of Object.values(counters)) used.set(name, change(used.get(name) ?? 0))
    }
    const compare = async (why: string): Promise<void> => {
      for (const { probe, counters } of [old, renewed]) {
        const due = Object.entries(counters).map(([name, counter]) => [name, used.get(counter) ?? 0] as const)
        await probe.isUsed(Object.fromEntries(due), TERMS, why)
      }
    }
    const first = await old.probe.admit(3, TERMS)
    note(old, (before) => before + 3)
    await advance(1_000)
    await renewed.probe.admit(4, TERMS)
    note(renewed, (before) => before + 4)
    await compare('charged by both')
    await old.probe.cancel(first, 2, TERMS)
    note(old, (before) => before - 2)
    await compare('refunded')
    await renewed.probe.reset(TERMS)
    note(renewed, () => 0)
    await compare('reset after the edit')
    await old.probe.admit(5, TERMS)
    note(old, (before) => before + 5)
    await compare('charged again')
  }
}

const EDIT_PLAYS = Object.entries(EDITS).map(([what, after]) => {
  const owners = new Set(Object.values(after.limits).flatMap(([{ name, by = name, shared }]) => (shared ? [] : [by])))
  const name = `when ${what}, counters of both policies continue by name, and others stay`
  return [name, owners.size > 1 ? needing('regroup', goesOn(after)) : goesOn(after)] as const
})

const SHORT = inEach([USER], lasting(MINUTE_MS))
const LONG = inEach([USER], lasting(MINUTE_MS), lasting(30 * DAY_MS))
const ROW: RowName = { layer: 'user', key: 'u' }

/** The writes of a policy without the long window. */
const WRITINGS: readonly ((probe: Probe) => Promise<unknown>)[] = [
  (probe) => probe.admit(1),
  async (probe) => probe.cancel(await probe.admit(2), 1),
  (probe) => probe.reset(),
]

/** Cases about counters while the policy is edited. They are matched by name. */
export const EDIT_CASES: readonly ConformanceCase[] = casesOn(
  {},
  {
    ...Object.fromEntries(EDIT_PLAYS),
    "a row's expiry is never shortened, and extended by any policy that needs more": needing(
      'expiry',
      async (scene) => {
        const { store, peer, advance, keptForMs } = scene
        const isKept = async (ms: number) => assert.ok((await keptForMs(ROW)) >= ms, `kept for at least ${ms} ms`)
        for (const write of WRITINGS) {
          const [short, long] = [new Probe(store, SHORT), new Probe(peer, LONG)]
          await long.admit(3)
          await isKept(30 * DAY_MS)
          await advance(1_000)
          await write(short)
          await isKept(30 * DAY_MS - 1_000)
          await long.reset()
          await advance(31 * DAY_MS)
          await write(short)
          await long.admit(1)
          await isKept(30 * DAY_MS)
          await advance(31 * DAY_MS)
        }
      },
    ),
    async 'two concurrent policies never admit more than the limit of a shared window'({ store, peer }) {
      const longer = inEach([USER], HOUR, DAY)
      const [one, other, same] = [inEach([USER], lasting(MINUTE_MS), HOUR), longer, longer].map(
        (limits, index) => new Probe(index === 1 ? peer : store, limits, 30),
      )
      const replies = await Promise.all(Array.from({ length: 90 }, (_, n) => [one, other, same][n % 3]?.take(1)))
      assert.equal(replies.filter((reply) => reply?.outcome === 'admitted').length, 30)
      for (const probe of [one, other]) assert.equal((await probe?.used())?.['user 1h'], 30)
    },
    'an id stays valid when a non-shared layer is added after the first': needing(['regroup', 'ids'], async (scene) => {
      await new Probe(scene.store, BEFORE).admit(3, { id: 'attempt' })
      const after = new Probe(scene.peer, inEach([USER, SITE, TEAM], ...CELLS))
      assert.equal((await after.take(3, { ...TERMS, id: 'attempt', nonce: 'b' })).outcome, 'duplicate')
    }),
  },
)
