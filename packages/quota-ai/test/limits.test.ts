import { generateText, wrapLanguageModel } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { describe, expect, test } from 'vitest'
import { type ModelRequest, modelMeter, QuotaRefusedError, quotaAi } from '../src/index.ts'
import { quotaMcp } from '../src/mcp.ts'
import { tokensOnly } from './support.ts'
import { toolQuota } from './tools.ts'

/** The numbers of the applications' own accounts. */
const ACCOUNTS: Readonly<Record<string, number | null>> = { small: 10, big: 2_000, none: null }
const numberOf = (account: string) => ({ tokens: ACCOUNTS[account] })

describe.each([
  ['at once', (request: ModelRequest) => numberOf(String(request.prompt))],
  ['later', async (request: ModelRequest) => numberOf(String(request.prompt))],
])('numbers of limits that come with a model call, %s', (_when, limits) => {
  test('apply to that call alone, on the same counter', async () => {
    const { quota, used } = tokensOnly()
    const meter = modelMeter({ quota, operation: 'chat', subject: 'u', limits, promptTokens: () => 0 })
    const call = (prompt: string, maxOutputTokens: number) => meter.start({ model: 'm', prompt, maxOutputTokens })
    await expect(call('small', 11)).rejects.toMatchObject({ decision: { refusedBy: { name: 'tokens', limit: 10 } } })
    await (await call('big', 1_500)).end({ output: 1_500 })
    await expect(call('none', 1)).rejects.toMatchObject({ decision: { refusedBy: { limit: 1_000, used: 1_500 } } })
    expect(used()).toBe(1_500)
  })
})

test('the AI SDK’s middleware takes numbers of limits, as a value too', async () => {
  const { quota } = tokensOnly()
  const model = new MockLanguageModelV3({ modelId: 'small' })
  const middleware = quotaAi({ quota, operation: 'chat', subject: 'u', limits: { tokens: 5 }, maxOutputTokens: 6 })
  const call = generateText({ model: wrapLanguageModel({ model, middleware }), prompt: 'hello' })
  await expect(call).rejects.toBeInstanceOf(QuotaRefusedError)
  expect(model.doGenerateCalls).toEqual([])
})

test.each([
  ['at once', (id: string) => ({ session: id === 'paying' ? 15 : null })],
  ['later', async (id: string) => ({ session: id === 'paying' ? 15 : null })],
])('numbers of limits that come with a tool call, %s', async (_when, numbersOf) => {
  const metered = quotaMcp({
    quota: toolQuota(),
    subject: ({ sessionId = '' }) => ({ user: sessionId, session: sessionId }),
    limits: ({ sessionId = '' }) => numbersOf(sessionId),
  })
  const tool = metered('search', (_extra: { readonly signal: AbortSignal; readonly sessionId: string }) => ({
    content: [],
  }))
  const calls = async (sessionId: string) => {
    const results: boolean[] = []
    for (let i = 0; i < 4; i++)
      results.push('isError' in (await tool({ signal: new AbortController().signal, sessionId })))
    return results
  }
  expect([await calls('free'), await calls('paying')]).toEqual([
    [false, false, true, true],
    [false, false, false, true],
  ])
})
