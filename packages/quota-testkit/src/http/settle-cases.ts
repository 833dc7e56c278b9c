import { deepEqual, equal } from 'node:assert/strict'
import { once } from 'node:events'
import { withBothStores } from './both-stores.ts'
import type { HttpCase } from './http-case.ts'
import { saving } from './outcome-cases.ts'

/** Handlers that settle by themselves, and settling at another time than at the head. */
export const HTTP_SETTLE_CASES: readonly HttpCase[] = withBothStores([
  {
    name: 'a handler commits less than was reserved, and the outcome changes nothing after it',
    scenario: saving({ status: 500, settles: { commit: 2 } }),
    async run(client) {
      equal((await client.ask('/x')).status, 500)
      equal(await client.used(), 2)
    },
  },
  {
    name: 'a handler cancels, and the tokens are back when its success arrives',
    scenario: saving({ body: 'nothing was done', settles: 'cancel' }),
    async run(client) {
      equal((await client.ask('/x')).status, 200)
      equal(await client.used(), 0)
    },
  },
  {
    name: 'a commit above the reservation is told to the logger, and leaves the outcome to decide',
    scenario: saving({ status: 400, settles: { commit: 6 } }),
    async run(client) {
      equal((await client.ask('/x')).status, 400)
      deepEqual((await client.log()).errors, ['commit_above_reservation'])
      equal(await client.used(), 0)
    },
  },
  {
    name: 'charge-first charges at once and never gives back',
    scenario: saving({ status: 500, settles: 'cancel' }, { settle: 'charge-first' }),
    async run(client) {
      equal((await client.ask('/x')).status, 500)
      equal(await client.used(), 5)
    },
  },
  {
    name: 'after the head of a success, settle: outcome hears no other cost',
    scenario: saving({ chunks: ['a', 'b'], settles: { commit: 2 }, settlesIn: 'middle' }),
    async run(client) {
      equal((await client.ask('/x')).body, 'ab')
      equal(await client.used(), 5)
    },
  },
  {
    name: 'settle: end hears in the middle of a stream what it cost, and has settled when the stream has arrived',
    scenario: saving({ chunks: ['a', 'b'], settles: { commit: 2 }, settlesIn: 'middle' }, { settle: 'end' }),
    async run(client) {
      equal((await client.ask('/x')).body, 'ab')
      equal(await client.used(), 2)
    },
  },
  {
    name: 'settle: end takes a cancel in the middle of a stream',
    scenario: saving({ chunks: ['a', 'b'], settles: 'cancel', settlesIn: 'middle' }, { settle: 'end' }),
    async run(client) {
      equal((await client.ask('/x')).body, 'ab')
      equal(await client.used(), 0)
    },
  },
  {
    name: 'settle: end charges a stream that says nothing of its cost',
    scenario: saving({ chunks: ['a', 'b'] }, { settle: 'end' }),
    async run(client) {
      equal((await client.ask('/x')).body, 'ab')
      equal(await client.used(), 5)
    },
  },
  {
    name: 'settle: end gives a failure its tokens back, whatever its handler says after the head',
    scenario: saving(
      { status: 502, chunks: ['a', 'b'], settles: { commit: 2 }, settlesIn: 'middle' },
      { settle: 'end' },
    ),
    async run(client) {
      equal((await client.ask('/x')).status, 502)
      equal(await client.used(), 0)
    },
  },
  {
    name: 'settle: end charges an answer without a body',
    scenario: saving({ status: 204 }, { settle: 'end' }),
    async run(client) {
      equal((await client.ask('/x')).status, 204)
      equal(await client.used(), 5)
    },
  },
  {
    name: 'a stream that breaks after the head of a success stays charged',
    scenario: saving({ chunks: ['a', 'b'], fails: 'middle' }),
    async run(client) {
      await client.ask('/x').catch(() => undefined)
      await client.tell('idle')
      equal(await client.used(), 5)
    },
  },
  {
    name: 'settle: end gives a stream that its handler breaks its tokens back',
    scenario: saving({ chunks: ['a', 'b'], fails: 'middle' }, { settle: 'end' }),
    needs: 'broken-streams',
    async run(client) {
      await client.ask('/x').catch(() => undefined)
      await client.tell('idle')
      equal(await client.used(), 0)
    },
    async without(client) {
      await client.ask('/x').catch(() => undefined)
      await client.tell('idle')
      equal(await client.used(), 5)
    },
  },
  {
    name: 'settle: end gives a stream that its handler breaks after the head has left its tokens back',
    scenario: saving({ chunks: ['a', 'b'], waits: { for: 'gate', in: 'middle' }, fails: 'middle' }, { settle: 'end' }),
    needs: ['waiting', 'broken-streams'],
    async run(client) {
      const socket = await client.send('/x')
      await client.tell('reached')
      await once(socket, 'data')
      await client.tell('open')
      await client.tell('idle')
      equal(await client.used(), 0)
    },
  },
])
