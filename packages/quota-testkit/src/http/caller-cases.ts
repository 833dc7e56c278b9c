import { deepEqual, equal } from 'node:assert/strict'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { type AnyStoreCase, type HttpCase, leaves, withBothStores } from './http-case.ts'
import { saving } from './outcome-cases.ts'
import type { HttpReply } from './scenario.ts'

/** A caller that disconnects while the handler waits, before the head is sent. */
function hangsUp(name: string, reply: HttpReply, tokens: number): AnyStoreCase {
  return leaves(name, saving({ ...reply, waits: { for: 'gone' } }), ['idle', tokens])
}

/** Callers that connect and disconnect. */
export const HTTP_CALLER_CASES: readonly HttpCase[] = withBothStores([
  hangsUp('a caller who disconnects before the head of a success stays charged', {}, 5),
  hangsUp('a caller who disconnects before the head of a failure stays charged', { status: 404 }, 5),
  hangsUp('a caller who disconnected gets the tokens back when the handler fails', { fails: 'later' }, 0),
  hangsUp('a caller who disconnected gets the tokens back when the handler cancels', { settles: 'cancel' }, 0),
  hangsUp('a caller who disconnected is charged what the handler commits', { settles: { commit: 1 } }, 1),
  ...(['outcome', 'end'] as const).map(
    (settle): AnyStoreCase => ({
      name: `a caller who disconnects in the middle of a stream stays charged, with settle: ${settle}`,
      scenario: saving({ chunks: ['a', 'b'], waits: { for: 'gone', in: 'middle' } }, { settle }),
      needs: 'hang-ups',
      async run(client) {
        const socket = await client.send('/x')
        await once(socket, 'data')
        await client.tell('reached')
        socket.destroy()
        await client.tell('idle')
        equal(await client.used(), 5)
      },
    }),
  ),
  {
    name: 'a kept-alive connection carries one request after the other',
    needs: 'http1',
    scenario: saving({ body: 'done' }),
    async run(client) {
      const socket = await client.send('/x')
      await once(socket, 'data')
      const request = ['HTTP/1.1', 'Host: a', 'x-user: u1']
      socket.write(`GET /x ${request.join('\r\n')}\r\n\r\n`)
      await once(socket, 'data')
      socket.write(`GET /x ${request.join('\r\n')}\r\nConnection: close\r\n\r\n`)
      equal(/^HTTP\/1.1 429/m.test(await text(socket)), true)
      equal(await client.used(), 10)
    },
  },
  {
    name: 'pipelined requests are answered in order and each charged',
    scenario: {
      routes: [
        { path: '/bad', operation: 'save', reply: { status: 400, body: 'first' } },
        { path: '/good', operation: 'save', reply: { body: 'second' } },
      ],
    },
    needs: 'pipelining',
    async run(client) {
      const socket = await client.dial()
      const rest = 'HTTP/1.1\r\nHost: a\r\nx-user: u1\r\n'
      socket.write(`GET /bad ${rest}\r\nGET /good ${rest}Connection: close\r\n\r\n`)
      const answer = await text(socket)
      deepEqual([answer.indexOf('first') > 0, answer.indexOf('second') > answer.indexOf('first')], [true, true])
      equal(await client.used(), 5)
    },
  },
])
