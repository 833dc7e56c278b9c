import type Anthropic from '@anthropic-ai/sdk'
import { type ModelMeter, reportedTokens } from '@scoregw/quota-ai'
import type { Question, UserRequest } from './openai-stream.ts'

/** Streams the model's answer, piece by piece. */
export async function* anthropicStream(
  anthropic: Anthropic,
  meter: ModelMeter<UserRequest>,
  { user, text, signal }: Question,
): AsyncGenerator<string> {
  const model = 'claude-sonnet-4-6'
  const messages = [{ role: 'user', content: text }] as const
  const call = await meter.start({
    model,
    user,
    prompt: messages,
    signal,
  })
  let input: Anthropic.Usage | undefined
  let output: number | undefined
  try {
    const stream = await anthropic.messages.create(
      {
        model,
        messages: [...messages],
        max_tokens: call.maxOutputTokens,
        stream: true,
      },
      { signal },
    )
    for await (const event of stream) {
      if (event.type === 'message_start') input = event.message.usage
      if (event.type === 'message_delta')
        output = event.usage.output_tokens
      if (event.type !== 'content_block_delta') continue
      if (event.delta.type !== 'text_delta') continue
      call.streamed(event.delta.text)
      yield event.delta.text
    }
    await call.end(input && tokensOf(input, output))
  } catch (error) {
    await call.fail()
    throw error
  } finally {
    await call.abort()
  }
}

function tokensOf(usage: Anthropic.Usage, output: number | undefined) {
  const cacheRead = usage.cache_read_input_tokens ?? 0
  const cacheWrite = usage.cache_creation_input_tokens ?? 0
  const total = usage.input_tokens + cacheRead + cacheWrite
  return reportedTokens({
    inputTokens: { total, cacheRead, cacheWrite },
    outputTokens: output,
  })
}
