import { deepEqual, equal, match } from 'node:assert/strict'
import { withBothStores } from './both-stores.ts'
import type { HttpClient } from './client.ts'
import type { HttpCase } from './http-case.ts'
import type { HttpOperation, HttpReply, HttpRouteSettings, HttpScenario } from './scenario.ts'

type Scenario = Omit<HttpScenario, 'store'>

/** A route at `/x` of an operation, and the same at `/free` without one. */
function route(operation: HttpOperation, reply: HttpReply, settings: HttpRouteSettings = {}): Scenario {
  return {
    routes: [
      { path: '/x', operation, settings, reply },
      { path: '/free', reply: {} },
    ],
  }
}

/** One slot, and enough tokens. */
function working(reply: HttpReply, settings?: HttpRouteSettings): Scenario {
  return { ...route('work', reply, settings), slots: 1, hourly: 100 }
}

const END = { settle: 'end' } as const
/** Nothing here takes as long. */
const LONG_GRACE = { ...END, abortGraceMs: 50_000 } as const
const SHORT_GRACE = { ...END, abortGraceMs: 1 } as const

/** A handler whose caller hangs up, and which says what its work has cost when the suite lets it. */
const LATE = { waits: { for: 'gone, then gate', in: 'middle' }, settles: { commit: 2 }, settlesIn: 'middle' } as const

/** Hangs up in the middle of what the handler does, and waits until it has heard. */
async function hangUp(client: HttpClient): Promise<void> {
  const socket = await client.send('/x')
  await client.tell('reached')
  socket.destroy()
  await client.tell('left')
}

const OF_BOTH_STORES = withBothStores([
  {
    name: 'settle: end charges above the reservation where the operation lets it',
    scenario: route('chat', { chunks: ['a', 'b'], settles: { commit: 12 }, settlesIn: 'middle' }, END),
    async run(client) {
      equal((await client.ask('/x')).body, 'ab')
      equal(await client.used(), 12)
      equal(await client.held(), 0)
    },
  },
  {
    name: 'settle: end leaves the excess uncharged where the operation does not, and the outcome decides',
    scenario: route('save', { settles: { commit: 6 } }, END),
    async run(client) {
      equal((await client.ask('/x')).status, 200)
      deepEqual((await client.log()).errors, ['commit_above_reservation'])
      equal(await client.used(), 5)
      equal(await client.held(), 0)
    },
  },
  {
    name: 'settle: end keeps what a handler added',
    scenario: route('save', { adds: 3, chunks: ['a', 'b'], settlesIn: 'middle' }, END),
    async run(client) {
      equal((await client.ask('/x')).body, 'ab')
      equal(await client.used(), 8)
      equal(await client.held(), 0)
    },
  },
  {
    name: 'settle: end gives a failure back what a handler added, too',
    scenario: route('save', { adds: 3, status: 500 }, END),
    async run(client) {
      equal((await client.ask('/x')).status, 500)
      equal(await client.used(), 0)
      equal(await client.held(), 0)
    },
  },
  {
    name: 'settle: end holds nothing after an answer to HEAD',
    scenario: route('save', { chunks: ['a', 'b'] }, END),
    async run(client) {
      equal((await client.ask('/x', { method: 'HEAD' })).status, 200)
      await client.untilNothingIsHeld()
      equal(await client.used(), 5)
    },
  },
  {
    name: 'settle: end charges a caller who hangs up in the middle, and holds nothing then',
    scenario: route('save', { chunks: ['a', 'b'], waits: { for: 'gone', in: 'middle' } }, SHORT_GRACE),
    needs: 'hang-ups',
    async run(client) {
      const socket = await client.send('/x')
      await client.tell('reached')
      socket.destroy()
      await client.tell('idle')
      await client.untilNothingIsHeld()
      equal(await client.used(), 5)
    },
  },
  {
    name: 'settle: end hears what a stream has cost from a handler whose caller hung up',
    scenario: route(
      'save',
      { chunks: ['a', 'b'], waits: { for: 'gone', in: 'middle' }, settles: { commit: 2 }, settlesIn: 'middle' },
      END,
    ),
    needs: 'hang-ups',
    async run(client) {
      const socket = await client.send('/x')
      await client.tell('reached')
      socket.destroy()
      await client.tell('idle')
      await client.untilNothingIsHeld()
      equal(await client.used(), 2)
    },
  },
  {
    name: 'settle: end hears for a while what a stream has cost whose caller hung up',
    scenario: route('save', { chunks: ['a', 'b'], ...LATE }, LONG_GRACE),
    needs: 'hang-ups',
    async run(client) {
      await hangUp(client)
      deepEqual([await client.held(), await client.used()], [1, 5])
      await client.tell('open')
      await client.tell('idle')
      await client.untilNothingIsHeld()
      equal(await client.used(), 2)
      deepEqual((await client.log()).errors, [])
    },
  },
  {
    name: 'settle: end takes a cancel in that while',
    scenario: route('save', { chunks: ['a', 'b'], ...LATE, settles: 'cancel' }, LONG_GRACE),
    needs: 'hang-ups',
    async run(client) {
      await hangUp(client)
      await client.tell('open')
      await client.tell('idle')
      await client.untilNothingIsHeld()
      equal(await client.used(), 0)
    },
  },
  {
    name: 'settle: end charges in full when that while is over, and logs a commit that comes later',
    scenario: route('save', { chunks: ['a', 'b'], ...LATE }, SHORT_GRACE),
    needs: 'hang-ups',
    async run(client) {
      await hangUp(client)
      await client.untilNothingIsHeld()
      equal(await client.used(), 5)
      await client.tell('open')
      await client.tell('idle')
      equal(await client.used(), 5)
      deepEqual((await client.log()).errors, ['reservation_expired'])
    },
  },
  {
    name: 'settle: end gives back when that while is over, if it is to',
    scenario: route('save', { chunks: ['a', 'b'], ...LATE }, { ...SHORT_GRACE, abortedAs: 'cancel' }),
    needs: 'hang-ups',
    async run(client) {
      await hangUp(client)
      await client.untilNothingIsHeld()
      equal(await client.used(), 0)
      await client.tell('open')
      await client.tell('idle')
      equal(await client.used(), 0)
    },
  },
  {
    name: 'settle: end hears a handler whose caller hung up before the head',
    scenario: route('save', { waits: { for: 'gone, then gate' }, settles: { commit: 2 } }, LONG_GRACE),
    needs: 'hang-ups',
    async run(client) {
      await hangUp(client)
      equal(await client.held(), 1)
      await client.tell('open')
      await client.tell('idle')
      await client.untilNothingIsHeld()
      equal(await client.used(), 2)
    },
  },
  {
    name: 'a slot is free when its response has ended, and not before',
    scenario: working({ chunks: ['a', 'b'], waits: { for: 'gate', in: 'middle' } }),
    needs: 'waiting',
    async run(client) {
      const first = client.ask('/x')
      await client.tell('reached')
      equal((await client.ask('/x')).status, 429)
      await client.tell('open')
      equal((await first).body, 'ab')
      equal(await client.held(), 0)
      equal((await client.ask('/x')).status, 200)
      equal(await client.used(), 10)
    },
  },
  {
    name: 'a refusal for want of a slot says so, and when to ask again',
    scenario: {
      ...working({ waits: { for: 'gate' } }),
      settings: { standardHeaders: 'draft-10', locale: 'en' },
    },
    needs: 'waiting',
    async run(client) {
      const first = client.ask('/x')
      await client.tell('reached')
      const { status, headers, body } = await client.ask('/x')
      await client.tell('open')
      await first
      equal(status, 429)
      equal(headers['retry-after'], '1')
      deepEqual([headers.ratelimit, headers['ratelimit-policy']], ['"personal-running";r=0', '"personal-running";q=1'])
      const { retryAfterSeconds, msg, quota } = JSON.parse(body ?? '') as {
        retryAfterSeconds: number
        msg: string
        quota: Record<string, unknown>
      }
      equal(retryAfterSeconds, 1)
      match(msg, /^Reached Personal Limit of 1 Write requests at once\. You may continue when one of them has ended\./)
      const { window, limit, used, requested, resetAt } = quota
      deepEqual(
        { window, limit, used, requested, resetAt },
        { window: 'running', limit: 1, used: 1, requested: 1, resetAt: '2026-08-06T14:06:27.000Z' },
      )
    },
  },
  {
    name: 'a failure frees its slot, and gives its tokens back',
    scenario: working({ status: 500, body: 'no' }),
    async run(client) {
      for (let time = 0; time < 2; time++) equal((await client.ask('/x')).status, 500)
      equal(await client.held(), 0)
      equal(await client.used(), 0)
    },
  },
  {
    name: 'an error frees its slot',
    scenario: working({ fails: 'now' }),
    async run(client) {
      for (let time = 0; time < 2; time++) equal((await client.ask('/x')).status, 500)
      equal(await client.held(), 0)
      equal(await client.used(), 0)
    },
  },
  {
    name: 'a stream that breaks frees its slot',
    scenario: working({ chunks: ['a', 'b'], fails: 'middle' }),
    needs: 'broken-streams',
    async run(client) {
      await client.ask('/x').catch(() => undefined)
      await client.tell('idle')
      await client.untilNothingIsHeld()
    },
  },
  {
    name: 'a caller who hangs up before the head frees the slot, and stays charged',
    scenario: working({ waits: { for: 'gone' } }),
    needs: 'hang-ups',
    async run(client) {
      const socket = await client.send('/x')
      await client.tell('reached')
      socket.destroy()
      await client.tell('idle')
      await client.untilNothingIsHeld()
      equal(await client.used(), 5)
    },
  },
  {
    name: 'a caller who hangs up in the middle of a stream frees the slot',
    scenario: working({ chunks: ['a', 'b'], waits: { for: 'gone', in: 'middle' } }),
    needs: 'hang-ups',
    async run(client) {
      const socket = await client.send('/x')
      await client.tell('reached')
      socket.destroy()
      await client.tell('idle')
      await client.untilNothingIsHeld()
      equal(await client.used(), 5)
    },
  },
  {
    name: 'a caller who hangs up frees the slot, whatever the handler goes on with',
    scenario: working({ chunks: ['a', 'b'], waits: { for: 'gate', in: 'middle' } }),
    needs: 'hang-ups',
    async run(client) {
      const socket = await client.send('/x')
      await client.tell('reached')
      socket.destroy()
      await client.untilNothingIsHeld()
      await client.tell('open')
      await client.tell('idle')
      equal(await client.used(), 5)
    },
  },
  {
    name: 'a caller who hangs up before the head frees the slot, whatever the handler goes on with',
    scenario: working({ waits: { for: 'gate' } }),
    needs: 'hang-ups',
    async run(client) {
      const socket = await client.send('/x')
      await client.tell('reached')
      socket.destroy()
      await client.untilNothingIsHeld()
      await client.tell('open')
      await client.tell('idle')
      equal(await client.used(), 5)
    },
  },
  {
    name: 'a request has the limits of its plan',
    scenario: route('save', {}, { plan: 'pro' }),
    async run(client) {
      const statuses: number[] = []
      for (let time = 0; time < 5; time++) statuses.push((await client.ask('/x')).status)
      deepEqual(statuses, [200, 200, 200, 200, 429])
    },
  },
  {
    name: 'a shadowed limit refuses nobody, and is told to nobody',
    scenario: { ...route('save', {}), settings: { standardHeaders: 'draft-10' } },
    async run(client) {
      await client.tell('shadow')
      for (let time = 0; time < 3; time++) {
        const { status, headers } = await client.ask('/x')
        equal(status, 200)
        match(headers['ratelimit-policy'] ?? '', /^"(personal|site)-(5h|1d)";/)
      }
      equal(await client.used(), 15)
    },
  },
])

/** Requests that hold tokens, or a slot, until their response ends. */
export const HTTP_HOLD_CASES: readonly HttpCase[] = [
  ...OF_BOTH_STORES,
  {
    name: 'settle: end waits for a commit that proves to be too much, and settles by the outcome',
    scenario: { ...route('save', { settles: { commit: 6 } }, END), store: 'later' },
    needs: 'waiting',
    async run(client) {
      await client.tell('store?settles=held')
      const asked = client.ask('/x')
      await client.tell('settling')
      await client.tell('idle')
      await client.tell('let-go')
      equal((await asked).status, 200)
      equal(await client.used(), 5)
      equal(await client.held(), 0)
    },
  },
]
