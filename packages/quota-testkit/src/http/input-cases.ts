import { deepEqual, equal } from 'node:assert/strict'
import { type AnyStoreCase, withBothStores } from './both-stores.ts'
import type { HttpCase } from './http-case.ts'
import { saving } from './outcome-cases.ts'

/** An error of the application: it is its own to answer, and nothing is charged. */
function isTheirs(name: string, headers: Record<string, string>): AnyStoreCase {
  return {
    name: `${name} is an error of the application, and charges nothing`,
    scenario: saving({}),
    async run(client) {
      equal((await client.ask('/x', { headers })).status, 500)
      equal((await client.log()).worked, 0)
      equal(await client.used(), 0)
      equal((await client.ask('/x')).status, 200)
    },
  }
}

function costs(cost: string, tokens: number): AnyStoreCase {
  return {
    name: `a cost of ${cost} charges ${tokens}`,
    scenario: saving({}),
    async run(client) {
      equal((await client.ask('/x', { headers: { 'x-cost': cost } })).status, 200)
      equal(await client.used(), tokens)
    },
  }
}

/** Subjects and costs, right and wrong. */
export const HTTP_INPUT_CASES: readonly HttpCase[] = withBothStores([
  costs('3', 3),
  costs('later:4', 4),
  costs('0', 0),
  isTheirs('a cost that is no number', { 'x-cost': 'NaN' }),
  isTheirs('a negative cost', { 'x-cost': 'later:-1' }),
  isTheirs('a cost that throws', { 'x-cost': 'throws' }),
  isTheirs('a cost that rejects', { 'x-cost': 'rejects' }),
  isTheirs('a subject that throws', { 'x-user': 'throws' }),
  isTheirs('a subject that rejects', { 'x-user': 'rejects' }),
  isTheirs('an empty subject', { 'x-user': 'empty' }),
  {
    name: 'a subject that comes later',
    scenario: saving({}),
    async run(client) {
      await client.ask('/x', { headers: { 'x-user': 'later:u2' } })
      deepEqual([await client.used('u1'), await client.used('u2')], [0, 5])
    },
  },
  {
    name: 'a subject that is no text is an error each time, and told once',
    scenario: saving({}),
    async run(client) {
      const headers = { 'x-user': 'number' }
      deepEqual(
        [(await client.ask('/x', { headers })).status, (await client.ask('/x', { headers })).status],
        [500, 500],
      )
      deepEqual((await client.log()).warnings, ['subject_not_text'])
    },
  },
  {
    name: 'a cost that never answers charges nothing and keeps nobody else waiting',
    needs: 'waiting',
    scenario: saving({}),
    async run(client) {
      const socket = await client.send('/x', ['x-cost: never'])
      await client.tell('reached')
      equal((await client.ask('/x')).status, 200)
      socket.destroy()
      equal(await client.used(), 5)
    },
  },
])
