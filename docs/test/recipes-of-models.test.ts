import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import { createQuota } from '@scoregw/quota'
import { modelMeter, priced, QuotaRefusedError } from '@scoregw/quota-ai'
import OpenAI from 'openai'
import { afterEach, describe, expect, test } from 'vitest'
import { anthropicStream } from '../code/anthropic-stream.ts'
import { openaiStream, type UserRequest } from '../code/openai-stream.ts'

const opened: (() => unknown)[] = []
afterEach(() => {
  for (const close of opened.splice(0)) close()
})

/** Streams events as a provider does; after `stopsAfter` of them it says no more, and keeps the connection. */
async function provider(events: readonly object[], { status = 200, stopsAfter = events.length } = {}) {
  let requests = 0
  const server = createServer((req, res) => {
    requests++
    req.resume()
    if (status !== 200) {
      res
        .writeHead(status, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error: { message: 'overloaded' } }))
      return
    }
    res.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events.slice(0, stopsAfter)) {
      const { type } = event as { type?: string }
      res.write(`${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`)
    }
    if (stopsAfter === events.length) res.end('data: [DONE]\n\n')
  })
  opened.push(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return { baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests: () => requests }
}

function metering(limit = 10_000) {
  const quota = createQuota({
    unit: 'tokens',
    limits: {
      tokens: { by: 'user', limit, per: '1h' },
      budget: { by: 'user', limit: 100_000, of: 'microusd', per: '1h' },
    },
    operations: {
      chat: { cost: { tokens: 0 }, free: true, overrun: 'charge', maxOverrun: { tokens: 5_000, microusd: 50_000 } },
    },
  })
  const meter = modelMeter({
    quota,
    operation: 'chat',
    subject: ({ user }: UserRequest) => user,
    maxOutputTokens: 100,
    promptTokens: () => 20,
    cost: priced({
      'gpt-5-mini': { input: 0.25, cachedInput: 0.025, output: 2 },
      'claude-sonnet-4-6': { input: 3, cachedInput: 0.3, cacheWrite: 3.75, output: 15 },
    }),
  })
  const used = async () => {
    const { tokens, budget } = (await quota.status('ann')).limits
    return [tokens?.used, budget?.used, (await quota.holds.list('ann')).length]
  }
  return { meter, used }
}

const piece = (content: string) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 0,
  model: 'm',
  choices: [{ index: 0, delta: { content }, finish_reason: null }],
})
const openaiEvents = [
  piece('one '),
  piece('two'),
  {
    ...piece(''),
    choices: [],
    usage: { prompt_tokens: 40, completion_tokens: 10, total_tokens: 50, prompt_tokens_details: { cached_tokens: 20 } },
  },
]
const delta = (text: string) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
const anthropicEvents = [
  {
    type: 'message_start',
    message: {
      id: 'm',
      type: 'message',
      role: 'assistant',
      content: [],
      model: 'm',
      usage: { input_tokens: 10, cache_read_input_tokens: 20, cache_creation_input_tokens: 8, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  delta('one '),
  delta('two'),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 10 } },
  { type: 'message_stop' },
]

describe.each([
  {
    name: 'OpenAI',
    events: openaiEvents,
    // 20 at 0.25, 20 at 0.025, 10 at 2.
    charged: [50, 26, 0],
    // 20 of the prompt as estimated at 0.25, and 3 of what was streamed at 2.
    aborted: [23, 11, 0],
    ask:
      (baseURL: string) =>
      (...rest: [Parameters<typeof openaiStream>[1], Parameters<typeof openaiStream>[2]]) =>
        openaiStream(new OpenAI({ baseURL, apiKey: 'none', maxRetries: 2 }), ...rest),
  },
  {
    name: 'Anthropic',
    events: anthropicEvents,
    // 10 at 3, 20 at 0.3, 8 at 3.75, 10 at 15.
    charged: [48, 216, 0],
    aborted: [23, 105, 0],
    ask:
      (baseURL: string) =>
      (...rest: [Parameters<typeof anthropicStream>[1], Parameters<typeof anthropicStream>[2]]) =>
        anthropicStream(new Anthropic({ baseURL, apiKey: 'none', maxRetries: 2 }), ...rest),
  },
])('streams of the client of $name', ({ events, charged, aborted, ask }) => {
  const question = (signal = new AbortController().signal) => ({ user: 'ann', text: 'Count to two', signal })

  test('a stream is charged what it reports', async () => {
    const { meter, used } = metering()
    const pieces: string[] = []
    for await (const each of ask((await provider(events)).baseURL)(meter, question())) pieces.push(each)
    expect(pieces).toEqual(['one ', 'two'])
    expect(await used()).toEqual(charged)
  })

  test('a stream whose user disconnects is charged what was streamed', async () => {
    const { meter, used } = metering()
    const hangUp = new AbortController()
    const { baseURL } = await provider(events, {
      stopsAfter: events.findIndex((event) => JSON.stringify(event).includes('two')) + 1,
    })
    let count = 0
    const read = async () => {
      for await (const _ of ask(baseURL)(meter, question(hangUp.signal))) if (++count === 2) hangUp.abort()
    }
    await read().catch(() => undefined)
    expect([count, await used()]).toEqual([2, aborted])
  })

  test('a stream that its reader cancels is charged what was streamed', async () => {
    const { meter, used } = metering()
    let count = 0
    for await (const _ of ask((await provider(events)).baseURL)(meter, question())) if (++count === 2) break
    expect(await used()).toEqual(aborted)
  })

  test('a failed stream is given back', async () => {
    const { meter, used } = metering()
    const { baseURL, requests } = await provider(events, { status: 400 })
    const stream = ask(baseURL)(meter, question())
    await expect(stream.next()).rejects.toThrow('overloaded')
    expect([await used(), requests()]).toEqual([[0, 0, 0], 1])
  })

  test('a refused stream is never requested', async () => {
    const { meter } = metering(100)
    const { baseURL, requests } = await provider(events)
    await expect(ask(baseURL)(meter, question()).next()).rejects.toThrow(QuotaRefusedError)
    expect(requests()).toBe(0)
  })
})
