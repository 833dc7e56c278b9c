import { getEventListeners } from 'node:events'
import { QuotaError } from '@scoregw/quota'
import { openTimers } from '@scoregw/server-kit'
import { APICallError, generateText, simulateReadableStream, streamText, wrapLanguageModel } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  type AiRequest,
  modelMeter,
  priced,
  QuotaRefusedError,
  QuotaRepeatedError,
  quotaAi,
  textTokens,
} from '../src/index.ts'
import { PRICES, threeUnits, tokensOnly } from './support.ts'

type Usage = Awaited<ReturnType<MockLanguageModelV3['doGenerate']>>['usage']
type StreamPart =
  Awaited<ReturnType<MockLanguageModelV3['doStream']>>['stream'] extends ReadableStream<infer Part> ? Part : never

const STOP = { unified: 'stop', raw: undefined } as const

function usage(
  input: number | undefined,
  output: number | undefined,
  more: { cacheRead?: number; cacheWrite?: number; reasoning?: number } = {},
): Usage {
  const { cacheRead, cacheWrite, reasoning } = more
  return {
    inputTokens: { total: input, noCache: undefined, cacheRead, cacheWrite },
    outputTokens: { total: output, text: undefined, reasoning },
  }
}

function answering(reported: Usage, text = 'Hello there', modelId = 'small') {
  return new MockLanguageModelV3({
    modelId,
    doGenerate: async () => ({ content: [{ type: 'text', text }], finishReason: STOP, usage: reported, warnings: [] }),
  })
}

const words = (...texts: string[]): StreamPart[] => [
  { type: 'text-start', id: '1' },
  ...texts.map((delta) => ({ type: 'text-delta', id: '1', delta }) as const),
]
const finish = (reported: Usage): StreamPart[] => [
  { type: 'text-end', id: '1' },
  { type: 'finish', usage: reported, finishReason: STOP },
]

function streaming(chunks: StreamPart[]) {
  return new MockLanguageModelV3({
    modelId: 'small',
    doStream: async () => ({
      stream: simulateReadableStream({ chunks, initialDelayInMs: null, chunkDelayInMs: null }),
    }),
  })
}

/** A stream that is fed by hand. */
function fed() {
  const { readable, writable } = new TransformStream<StreamPart, StreamPart>()
  const writer = writable.getWriter()
  const model = new MockLanguageModelV3({ modelId: 'small', doStream: async () => ({ stream: readable }) })
  return { model, writer }
}

const PROMPT = 'Say hello to everybody'

function metered(model: MockLanguageModelV3, quota: ReturnType<typeof tokensOnly>['quota'], more: object = {}) {
  const options = { quota, operation: 'chat', subject: 'u', maxOutputTokens: 100, ...more } as const
  return wrapLanguageModel({ model, middleware: quotaAi(options) })
}

describe('AI SDK responses', () => {
  test('a response holds its prompt and its maximum while the model works and is charged the reported usage', async () => {
    const { quota, used, held } = tokensOnly()
    let during: unknown
    const model = new MockLanguageModelV3({
      doGenerate: async ({ maxOutputTokens }) => {
        during = [used(), await held(), maxOutputTokens]
        return { content: [], finishReason: STOP, usage: usage(12, 30), warnings: [] }
      },
    })
    await generateText({ model: metered(model, quota), prompt: PROMPT })
    // Of the prompt also what the SDK writes around it: its role and the kind of its part.
    const [estimate] = during as number[]
    expect(estimate).toBeGreaterThanOrEqual(100 + textTokens(PROMPT))
    expect(during).toEqual([estimate, 1, 100])
    expect([used(), await held()]).toEqual([42, 0])
  })

  test('a response without reported usage is charged by its text', async () => {
    const { quota, used } = tokensOnly()
    const promptTokens = () => 7
    await generateText({
      model: metered(answering(usage(undefined, undefined), 'abcdef'), quota, { promptTokens }),
      prompt: PROMPT,
    })
    expect(used()).toBe(7 + 2)
  })

  test.each([
    ['0 for everything', usage(0, 0), 7 + 2],
    ['0 output', usage(5, 0), 5 + 2],
    ['only the output', usage(undefined, 3), 7 + 3],
    ['only the prompt', usage(5, undefined), 5 + 2],
    ['an output from a prompt of 0', usage(0, 3), 3],
  ])('a response that reports %s is completed by its text', async (_, reported, charged) => {
    const { quota, used } = tokensOnly()
    const promptTokens = () => 7
    await generateText({ model: metered(answering(reported, 'abcdef'), quota, { promptTokens }), prompt: PROMPT })
    expect(used()).toBe(charged)
  })

  test('a stream of 400 words is charged for them, although the provider reports 0', async () => {
    const { quota, used } = tokensOnly()
    const text = Array.from({ length: 400 }, () => 'word ')
    const model = metered(streaming([...words(...text), ...finish(usage(0, 0))]), quota, { promptTokens: () => 4 })
    await streamText({ model, prompt: PROMPT }).consumeStream()
    expect(used()).toBe(4 + Math.ceil(2_000 / 3))
  })

  test('a response above its hold is charged too', async () => {
    const { quota, used } = tokensOnly()
    await generateText({ model: metered(answering(usage(900, 700)), quota), prompt: PROMPT })
    expect(used()).toBe(1_600)
  })

  test('a response with more tokens than can be counted is charged as far as the policy allows', async () => {
    const { quota, used } = tokensOnly()
    const most = Number.MAX_SAFE_INTEGER
    await generateText({
      model: metered(answering(usage(most, most)), quota, { promptTokens: () => 7 }),
      prompt: PROMPT,
    })
    // What was held, and maxOverrun.
    expect(used()).toBe(7 + 100 + 5_000)
  })

  test('a failed response is given back at each SDK attempt, and the successful one is charged once', async () => {
    const { quota, used, held } = tokensOnly()
    const seen: unknown[] = []
    const doGenerate = vi.fn(async () => {
      seen.push(await held())
      if (seen.length < 3) {
        throw new APICallError({
          message: 'overloaded',
          url: '',
          requestBodyValues: {},
          statusCode: 529,
          isRetryable: true,
          responseHeaders: { 'retry-after-ms': '1' },
        })
      }
      return { content: [], finishReason: STOP, usage: usage(10, 20), warnings: [] }
    })
    const model = new MockLanguageModelV3({ doGenerate })
    await generateText({ model: metered(model, quota, { id: () => 'job-7' }), prompt: PROMPT })
    expect(seen).toEqual([1, 1, 1])
    expect(used()).toBe(30)
  })

  test('a repeated id calls no model and charges nothing', async () => {
    const { quota, used } = tokensOnly()
    const model = answering(usage(10, 20))
    const call = () => generateText({ model: metered(model, quota, { id: () => 'job-7' }), prompt: PROMPT })
    await call()
    await expect(call()).rejects.toThrow(QuotaRepeatedError)
    expect([used(), model.doGenerateCalls.length]).toEqual([30, 1])
  })

  test('a response that the caller aborts is charged its prompt', async () => {
    const { quota, used, held } = tokensOnly()
    const stop = new AbortController()
    const model = new MockLanguageModelV3({
      doGenerate: async ({ abortSignal }) => {
        stop.abort()
        abortSignal?.throwIfAborted()
        throw new Error('not aborted')
      },
    })
    const call = generateText({
      model: metered(model, quota, { promptTokens: () => 9 }),
      prompt: PROMPT,
      abortSignal: stop.signal,
    })
    await expect(call).rejects.toThrow(/abort/i)
    expect([used(), await held()]).toEqual([9, 0])
  })
})

describe('AI SDK refusals', () => {
  test('a refusal calls no model, isn’t retried by the SDK, and has its retry time', async () => {
    const { quota, used } = tokensOnly()
    const model = answering(usage(10, 20))
    const call = generateText({ model: metered(model, quota, { maxOutputTokens: 999 }), prompt: PROMPT, maxRetries: 5 })
    const error = await call.catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(QuotaRefusedError)
    expect(error).toMatchObject({
      retryAfterMs: null,
      message: expect.stringMatching(/^This request needs [\d,]+ tokens, more than the limit of 1,000 per hour\.$/),
    })
    await generateText({ model: metered(answering(usage(10, 900)), quota), prompt: PROMPT })
    const later = await generateText({ model: metered(model, quota), prompt: PROMPT, maxRetries: 5 }).catch(
      (caught: unknown) => caught,
    )
    expect(later).toMatchObject({
      name: 'QuotaRefusedError',
      retryAfterMs: 3_600_000,
      message: 'Limit reached: 1,000 tokens per hour. Try again in 1 hour.',
    })
    expect([used(), model.doGenerateCalls.length]).toEqual([910, 0])
  })

  test('a refusal reaches the reader of a stream', async () => {
    const { quota } = tokensOnly()
    const errors: unknown[] = []
    const model = metered(streaming([...words('a'), ...finish(usage(1, 1))]), quota, { maxOutputTokens: 5_000 })
    await streamText({ model, prompt: PROMPT, onError: ({ error }) => void errors.push(error) }).consumeStream()
    expect(errors).toEqual([expect.any(QuotaRefusedError)])
  })
})

describe('AI SDK streams', () => {
  test('a stream is charged the usage reported at its end', async () => {
    const { quota, used, held } = tokensOnly()
    const model = metered(streaming([...words('one ', 'two'), ...finish(usage(5, 6))]), quota)
    expect(await streamText({ model, prompt: PROMPT }).text).toBe('one two')
    expect([used(), await held()]).toEqual([11, 0])
  })

  test('a stream without reported usage is charged by what was streamed', async () => {
    const { quota, used } = tokensOnly()
    const model = metered(streaming([...words('abc', 'def'), ...finish(usage(undefined, undefined))]), quota, {
      promptTokens: () => 4,
    })
    await streamText({ model, prompt: PROMPT }).consumeStream()
    expect(used()).toBe(4 + 2)
  })

  test('an aborted stream is charged its prompt and what was streamed until then', async () => {
    const { quota, used, held } = tokensOnly()
    const { model, writer } = fed()
    const stop = new AbortController()
    const reader = streamText({
      model: metered(model, quota, { promptTokens: () => 4 }),
      prompt: PROMPT,
      abortSignal: stop.signal,
    }).textStream.getReader()
    void (async () => {
      for (const part of words('abc', 'def')) await writer.write(part)
    })()
    expect([(await reader.read()).value, (await reader.read()).value]).toEqual(['abc', 'def'])
    expect([used(), await held()]).toEqual([104, 1])
    stop.abort()
    await reader.cancel()
    await vi.waitFor(async () => expect([used(), await held()]).toEqual([6, 0]), { timeout: 30_000 })
  })

  test('a broken stream is given back or charged what was streamed', async () => {
    const { quota, used, held } = tokensOnly()
    const options = { promptTokens: () => 4 }
    const failing = (chunks: StreamPart[]) =>
      metered(streaming([...chunks, { type: 'error', error: new Error('overloaded') }]), quota, options)
    const read = (model: ReturnType<typeof failing>) =>
      streamText({ model, prompt: PROMPT, onError: () => undefined }).consumeStream()
    await read(failing([]))
    expect([used(), await held()]).toEqual([0, 0])
    await read(failing(words('abc')))
    expect([used(), await held()]).toEqual([5, 0])
    const { model, writer } = fed()
    void (async () => {
      for (const part of words('abc')) await writer.write(part)
      await writer.abort(new Error('connection lost'))
    })().catch(() => undefined)
    await read(metered(model, quota, options))
    expect([used(), await held()]).toEqual([10, 0])
  })

  test('a stream that breaks before its first word is given back, even if it ends with an empty report', async () => {
    const { quota, used, held } = tokensOnly()
    const broken: StreamPart = { type: 'error', error: new Error('overloaded') }
    const chunks = [broken, ...finish(usage(undefined, undefined))]
    await streamText({
      model: metered(streaming(chunks), quota),
      prompt: PROMPT,
      onError: () => undefined,
    }).consumeStream()
    expect([used(), await held()]).toEqual([0, 0])
  })

  test('a stream that breaks after its first word is charged what was streamed, and a retry under its id continues', async () => {
    const { quota, used, held } = tokensOnly()
    const options = { promptTokens: () => 4, id: () => 'job-7' }
    const broken: StreamPart = { type: 'error', error: new Error('overloaded') }
    const errors: unknown[] = []
    const onError = ({ error }: { error: unknown }) => void errors.push(error)
    const read = (chunks: StreamPart[]) =>
      streamText({ model: metered(streaming(chunks), quota, options), prompt: PROMPT, onError }).consumeStream()
    await read([...words('abc'), broken])
    expect([used(), await held()]).toEqual([5, 0])
    await read([...words('abcdef'), ...finish(usage(4, 2))])
    expect([used(), await held()]).toEqual([11, 0])
    await read(words('a'))
    expect([used(), errors.at(-1)]).toEqual([11, expect.any(QuotaRepeatedError)])
  })

  test('a stream that never starts is given back', async () => {
    const { quota, used, held } = tokensOnly()
    const model = new MockLanguageModelV3({
      doStream: async () => {
        throw new Error('no such model')
      },
    })
    await streamText({ model: metered(model, quota), prompt: PROMPT, onError: () => undefined }).consumeStream()
    expect([used(), await held()]).toEqual([0, 0])
  })
})

describe('AI SDK with several units', () => {
  const options = { operation: 'chat', subject: 'u', maxOutputTokens: 100, cost: PRICES } as const

  test('usage is charged by the price of each model, with cached input and reasoning', async () => {
    const { quota, used } = threeUnits()
    const middleware = quotaAi({ ...options, quota })
    const small = wrapLanguageModel({ model: answering(usage(1_000, 500, { cacheRead: 400 })), middleware })
    await generateText({ model: small, prompt: PROMPT })
    expect(used()).toEqual([1, 1_500, 600 * 0.25 + 400 * 0.025 + 500 * 2])
    const reported = usage(100, 50, { cacheRead: 20, cacheWrite: 30, reasoning: 10 })
    await generateText({
      model: wrapLanguageModel({ model: answering(reported, '', 'large'), middleware }),
      prompt: PROMPT,
    })
    // 1,160 + 50 * 1.1 + 20 * 0.1 + 30 * 1.4 + 40 * 10 + 10 * 12
    expect(used()).toEqual([2, 1_650, 1_779])
  })

  test('a model without a price is an error that lists the priced models, and no model is called', async () => {
    const { quota, used } = threeUnits()
    const model = answering(usage(1, 1), '', 'huge')
    const call = generateText({
      model: wrapLanguageModel({ model, middleware: quotaAi({ ...options, quota }) }),
      prompt: PROMPT,
    })
    await expect(call).rejects.toThrow('no price for model "huge"; there are prices for small, large')
    expect([used(), model.doGenerateCalls.length]).toEqual([[0, 0, 0], 0])
  })

  test('tokens are counted if there are no prices', async () => {
    const { quota, used } = threeUnits()
    const middleware = quotaAi({ quota, operation: 'chat', subject: 'u', maxOutputTokens: 100 })
    await generateText({ model: wrapLanguageModel({ model: answering(usage(10, 20)), middleware }), prompt: PROMPT })
    expect(used()).toEqual([1, 30, 0])
  })
})

describe('invalid use of quotaAi()', () => {
  test('a call without a maximum of output tokens is an error that says where to set one', async () => {
    const { quota } = tokensOnly()
    const model = wrapLanguageModel({
      model: answering(usage(1, 1)),
      middleware: quotaAi({ quota, operation: 'chat', subject: 'u' }),
    })
    await expect(generateText({ model, prompt: PROMPT })).rejects.toMatchObject({
      code: 'invalid_cost',
      message: expect.stringContaining('set maxOutputTokens of the call, or in the options'),
    })
    expect((await generateText({ model, prompt: PROMPT, maxOutputTokens: 20 })).text).toBe('Hello there')
  })

  test('quotaAi() throws on an unknown operation and on one that rejects overruns', () => {
    const { quota } = tokensOnly()
    const made = (operation: string) => () => quotaAi({ quota, operation: operation as 'chat', subject: 'u' })
    expect(made('chatt')).toThrow('unknown operation "chatt"; did you mean "chat"?')
    expect(made('plain')).toThrow(`operation "plain" needs overrun 'charge' or 'fit'`)
    expect(made('toString')).toThrow(QuotaError)
    expect(made(undefined as unknown as string)).toThrow('operation: missing; the policy has chat')
  })

  test('quotaAi() throws without a subject, before any call', () => {
    const { quota } = tokensOnly()
    const nobody = { quota, operation: 'chat' } as unknown as Parameters<typeof quotaAi>[0]
    expect(() => quotaAi(nobody)).toThrow('subject: missing; expected the caller')
  })

  test.each([Number.NaN, -1, '3'])('priced() rejects the price %s', (input) => {
    expect(() => priced({ small: { input: input as number, output: 1 } })).toThrow(
      'priced: "small".input must be a number, 0 or more',
    )
  })
})

test('subject may be a function of the call', async () => {
  const { quota } = tokensOnly()
  const subject = ({ params, model, provider }: AiRequest) =>
    `${model} ${provider} ${String(params.providerOptions?.quota?.user)}`
  const model = metered(answering(usage(1, 1)), quota, { subject })
  await generateText({ model, prompt: PROMPT, providerOptions: { quota: { user: 'ann' } } })
  expect((await quota.status('small mock-provider ann')).limits.tokens?.used).toBe(2)
})

test('a charge that can’t be settled is logged, and the response is delivered', async () => {
  const { quota } = tokensOnly()
  const away = new QuotaError('quota_unavailable', 'the store is away')
  const reserve: typeof quota.reserve = async (request) => {
    const hold = await quota.reserve(request)
    return { ...hold, commit: () => Promise.reject(away) }
  }
  const logger = { error: vi.fn() }
  const model = metered(answering(usage(1, 1)), { ...quota, policy: quota.policy, reserve }, { logger })
  expect((await generateText({ model, prompt: PROMPT })).text).toBe('Hello there')
  expect(logger.error.mock.calls).toEqual([[away]])
})

test('a fraction of a microdollar is charged as a whole one', () => {
  const cost = priced({ small: { input: 0.15, output: 0.6 } })
  const tokens = { input: 1, cachedInput: 0, cacheWrite: 0, output: 0, reasoning: 0 }
  expect(cost(tokens, 'small')).toEqual({ tokens: 1, microusd: 1 })
  expect(cost({ ...tokens, input: 20, output: 5 }, 'small')).toEqual({ tokens: 25, microusd: 6 })
})

describe('calls of modelMeter()', () => {
  test.each(['end', 'abort', 'fail'] as const)(
    'a failed call is charged once, whatever is called afterwards: %s',
    async (how) => {
      const { quota, used } = tokensOnly()
      const meter = modelMeter({ quota, operation: 'chat', subject: 'u', id: () => 'job-7', promptTokens: () => 4 })
      const call = await meter.start({ model: 'small', prompt: PROMPT, maxOutputTokens: 10 })
      call.streamed('abc')
      await Promise.all([call.fail(), call[how]()])
      await call[how]()
      expect(used()).toBe(5)
    },
  )

  test('a finished call stays charged if fail() is called later', async () => {
    const { quota, used } = tokensOnly()
    const meter = modelMeter({ quota, operation: 'chat', subject: 'u', id: () => 'job-7', promptTokens: () => 4 })
    const call = await meter.start({ model: 'small', prompt: PROMPT, maxOutputTokens: 10 })
    call.streamed('abc')
    await call.end()
    await call.fail()
    expect(used()).toBe(5)
    await expect(meter.start({ model: 'small', prompt: PROMPT, maxOutputTokens: 10 })).rejects.toThrow(
      QuotaRepeatedError,
    )
  })

  test('calls with one signal share a listener of it, of which Node would warn above ten', async () => {
    const { quota, used } = tokensOnly()
    const meter = modelMeter({ quota, operation: 'chat', subject: 'u', promptTokens: () => 4 })
    const stop = new AbortController()
    const request = { model: 'small', prompt: PROMPT, maxOutputTokens: 10, signal: stop.signal }
    const calls = await Promise.all(Array.from({ length: 50 }, () => meter.start(request)))
    const listeners = () => getEventListeners(stop.signal, 'abort').length
    expect(listeners()).toBe(1)
    for (const call of calls.splice(10)) await call.end()
    expect([listeners(), used()]).toEqual([1, 40 * 4 + 10 * 14])
    for (const call of calls) call.streamed('abc')
    stop.abort()
    await vi.waitFor(() => expect(used()).toBe(40 * 4 + 10 * 5))
    expect(listeners()).toBe(0)
  })

  afterEach(() => void vi.useRealTimers())

  test.each(['end', 'abort', 'fail'] as const)('a call is kept alive by a timer that stops at its %s', async (how) => {
    vi.useFakeTimers()
    const timers = openTimers(['reservations/handle.ts'])
    const { quota } = tokensOnly()
    const call = await modelMeter({ quota, operation: 'chat', subject: 'u' }).start({
      model: 'small',
      prompt: PROMPT,
      maxOutputTokens: 10,
    })
    expect(timers()).toBe(1)
    await call[how]()
    expect(timers()).toBe(0)
  })
})
