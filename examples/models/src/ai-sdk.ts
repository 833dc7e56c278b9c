/** Users of a language model, with limits of requests, tokens and money. The model is the SDK's own for tests. */

import { createQuota } from '@scoregw/quota'
import { priced, QuotaRefusedError, quotaAi } from '@scoregw/quota-ai'
import { simulateReadableStream, streamText, wrapLanguageModel } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'

const quota = createQuota({
  limits: {
    perMinute: { by: 'user', limit: 10, per: '1m' },
    tokens: { by: 'user', limit: 2_000, of: 'tokens', per: '1h' },
    budget: { by: 'user', limit: 50_000, of: 'microusd', per: '1d' },
  },
  operations: { chat: { overrun: 'charge', maxOverrun: { requests: 0, tokens: 10_000, microusd: 100_000 } } },
})

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
for (const { name, used, limit } of Object.values((await quota.status('ann')).limits)) {
  console.log(`${name}: ${used} of ${limit}`)
}
await quota.close()
