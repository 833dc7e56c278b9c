/** Users of a language model, with limits of requests, tokens and money. The model is the SDK's own for tests. */
import { createQuota, definePolicy } from '@scoregw/quota'
import { priced, QuotaRefusedError, quotaAi } from '@scoregw/quota-ai'
import { simulateReadableStream, streamText, wrapLanguageModel } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'

const policy = definePolicy({
  units: ['requests', 'tokens', { name: 'microusd', format: { currency: 'USD', scale: 6 } }],
  windows: [
    { label: '1m', unit: 'requests' },
    { label: 'tokens-1h', per: '1h', unit: 'tokens' },
    { label: 'money-1d', per: '1d', unit: 'microusd' },
  ],
  categories: ['chat'],
  layers: [{ name: 'user' }],
  operations: {
    chat: {
      category: 'chat',
      cost: { requests: 1 },
      overrun: 'charge',
      maxOverrun: { requests: 1, tokens: 10_000, microusd: 100_000 },
    },
  },
  base: { user: { chat: { '1m': 10, 'tokens-1h': 2_000, 'money-1d': 50_000 } } },
})
const quota = createQuota({ policy })

/** Streams three words, and reports 40 tokens in and 900 out. */
const provider = new MockLanguageModelV3({
  modelId: 'small',
  doStream: async () => ({
    stream: simulateReadableStream({
      chunks: [
        { type: 'text-start', id: '1' },
        ...['Tea ', 'is ', 'ready.'].map((delta) => ({ type: 'text-delta', id: '1', delta }) as const),
        { type: 'text-end', id: '1' },
        {
          type: 'finish',
          finishReason: { unified: 'stop', raw: undefined },
          usage: {
            inputTokens: { total: 40, noCache: 30, cacheRead: 10, cacheWrite: 0 },
            outputTokens: { total: 900, text: 600, reasoning: 300 },
          },
        },
      ],
    }),
  }),
})

const model = wrapLanguageModel({
  model: provider,
  middleware: quotaAi({
    quota,
    operation: 'chat',
    subject: ({ params }) => String(params.providerOptions?.quota?.user),
    maxOutputTokens: 1_000,
    cost: priced({ small: { input: 0.25, cachedInput: 0.025, output: 2 } }),
  }),
})

for (let call = 1; call <= 3; call++) {
  const result = streamText({
    model,
    prompt: 'Is the tea ready?',
    providerOptions: { quota: { user: 'ann' } },
    onError({ error }) {
      if (!(error instanceof QuotaRefusedError)) throw error
      console.log(error.message)
    },
  })
  let text = ''
  for await (const part of result.textStream) text += part
  if (text !== '') console.log(text)
}
for (const { window, used, limit } of (await quota.status('ann')).windows.chat ?? []) {
  console.log(`${window}: ${used} of ${limit}`)
}
await quota.close()
