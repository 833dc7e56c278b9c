import { deepEqual, equal } from 'node:assert/strict'
import { type AnyStoreCase, type HttpCase, plays, withBothStores } from './http-case.ts'
import { saving } from './outcome-cases.ts'

/** Makes a case for an error of the application: the application responds, and nothing is charged. */
function isTheirs(name: string, headers: Record<string, string>): AnyStoreCase {
  const steps = [{ status: 500, headers, worked: 0 }, 0, { status: 200 }]
  return plays(`${name} is an error of the application and charges nothing`, saving({}), steps)
}

function costs(cost: string, tokens: number): AnyStoreCase {
  const steps = [{ status: 200, headers: { 'x-cost': cost } }, tokens]
  return plays(`a cost of ${cost} charges ${tokens}`, saving({}), steps)
}

/** A subject that isn't a string. */
const NUMBER = { 'x-user': 'number' }

/** Valid and invalid subjects and costs. */
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
  plays('an empty or blank subject is an anonymous request', saving({}), [
    { status: 401, headers: { 'x-user': 'empty' }, worked: 0 },
    { status: 401, headers: { 'x-user': 'blank' }, worked: 0 },
    { status: 200 },
  ]),
  {
    name: 'a subject of any length counts, and is not refused for it',
    scenario: saving({}),
    async run(client) {
      const long = 'long'.repeat(1_500)
      for (const status of [200, 200, 429])
        equal((await client.ask('/x', { headers: { 'x-user': long } })).status, status)
      equal((await client.ask('/x', { headers: { 'x-user': `${long}er` } })).status, 200)
    },
  },
  {
    name: 'a promise of a subject is awaited',
    scenario: saving({}),
    async run(client) {
      await client.ask('/x', { headers: { 'x-user': 'later:u2' } })
      deepEqual([await client.used('u1'), await client.used('u2')], [0, 5])
    },
  },
  plays('an invalid subject is an error each time and logged once', saving({}), [
    { status: 500, headers: NUMBER },
    { status: 500, headers: NUMBER, warnings: ['subject_not_text'] },
  ]),
  {
    name: 'a cost that never resolves charges nothing and delays no other request',
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
