import { deepEqual, equal } from 'node:assert/strict'
import type { HttpClient } from './client.ts'
import { type AnyStoreCase, type HttpCase, playSteps, withBothStores } from './http-case.ts'
import { saving, USED_UP } from './outcome-cases.ts'
import type { HttpRouteSettings, HttpScenario } from './scenario.ts'

/** Far more than a response takes. */
const WITHIN_MS = 10_000

/** Polls a control command until it returns a value. */
async function until(client: HttpClient, command: string, due: unknown): Promise<void> {
  const deadline = performance.now() + WITHIN_MS
  let seen = await client.tell(command)
  while (seen !== due && performance.now() < deadline) seen = await client.tell(command)
  equal(seen, due, command)
}

async function timesOut(client: HttpClient, answer: ReturnType<HttpClient['ask']>): Promise<void> {
  await client.tell('time-out')
  const { status, body } = await answer
  deepEqual([status, body], [503, 'too slow'])
}

/** A case where something answers a request while the store decides. */
function endsEarly(
  name: string,
  scenario: Omit<HttpScenario, 'store' | 'timesOut'>,
  { before = [], tokens }: { readonly before?: typeof USED_UP; readonly tokens: number },
): HttpCase {
  return {
    name,
    scenario: { ...scenario, store: 'later', timesOut: true },
    needs: ['time-outs', 'waiting'],
    async run(client) {
      await playSteps(client, [...before, 'store?takes=held'])
      const { worked } = await client.log()
      const answer = client.ask('/x')
      await client.tell('taking')
      await timesOut(client, answer)
      await client.tell('let-go')
      // Requests on other connections complete meanwhile, so that the decision has come and gone.
      for (let i = 0; i < 3; i++) equal((await client.ask('/free')).status, 200)
      const deadline = performance.now() + WITHIN_MS
      while ((await client.used()) !== tokens && performance.now() < deadline) await client.ask('/free')
      await playSteps(client, [tokens, 'released', { errors: [] }])
      equal((await client.log()).worked - worked >= 3, true)
    },
  }
}

/** Longer than the limit's window. */
const WAITS = { maxWaitMs: 60_000_000 } as const

/** A case where something answers a request that waits in the queue. */
function leavesQueue(name: string, settings: HttpRouteSettings = {}): AnyStoreCase {
  return {
    name,
    scenario: { ...saving({ body: 'done' }, { ...WAITS, ...settings }), timesOut: true },
    needs: ['time-outs', 'waiting'],
    async run(client) {
      await playSteps(client, USED_UP)
      const answer = client.ask('/x')
      await until(client, 'waiting', 1)
      await timesOut(client, answer)
      await until(client, 'waiting', 0)
      await playSteps(client, ['reset', 'released', { errors: [], worked: 2 }, 0])
    },
  }
}

/** Responses that end before their request was decided, as time-outs do. */
export const HTTP_ENDED_CASES: readonly HttpCase[] = [
  endsEarly('a request that was answered while the store decided is given back', saving({}), { tokens: 0 }),
  endsEarly(
    'a request that was answered while the store decided holds nothing with settle: end',
    saving({}, { settle: 'end' }),
    { tokens: 0 },
  ),
  endsEarly('a refusal of a request that was answered meanwhile sends nothing', saving({}), {
    before: USED_UP,
    tokens: 10,
  }),
  endsEarly(
    'a refusal of a request that was answered meanwhile calls no handler',
    { ...saving({}), ownAnswers: { handler: 'throws' } },
    { before: USED_UP, tokens: 10 },
  ),
  ...withBothStores([
    leavesQueue('a request that was answered while it waited leaves the queue and is never charged'),
    leavesQueue('a request that was answered while it waited leaves the queue with settle: end', { settle: 'end' }),
    {
      name: 'a function of the application that rejects after a time-out changes nothing',
      scenario: { ...saving({}), timesOut: true },
      needs: ['time-outs', 'waiting'],
      async run(client) {
        const answer = client.ask('/x', { headers: { 'x-user': 'rejects at the time-out' } })
        while ((await client.tell('asked')) === 0) await client.ask('/free')
        await timesOut(client, answer)
        for (let i = 0; i < 3; i++) equal((await client.ask('/free')).status, 200)
        equal(await client.used(), 0)
      },
    },
  ]),
]
