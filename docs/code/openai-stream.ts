import {
  type ModelMeter,
  type ModelRequest,
  reportedTokens,
} from '@scoregw/quota-ai'
import type OpenAI from 'openai'

/** A call of a model, for a user. */
export type UserRequest = ModelRequest & { readonly user: string }

export interface Question {
  readonly user: string
  readonly text: string
  /** Aborted when the user hangs up. */
  readonly signal: AbortSignal
}

/** Streams the model's answer, piece by piece. */
export async function* openaiStream(
  openai: OpenAI,
  meter: ModelMeter<UserRequest>,
  { user, text, signal }: Question,
): AsyncGenerator<string> {
  const model = 'gpt-5-mini'
  const messages = [{ role: 'user', content: text }] as const
  const call = await meter.start({
    model,
    user,
    prompt: messages,
    signal,
  })
  let usage: OpenAI.CompletionUsage | null | undefined
  try {
    const stream = await openai.chat.completions.create(
      {
        model,
        messages: [...messages],
        max_completion_tokens: call.maxOutputTokens,
        stream: true,
        stream_options: { include_usage: true },
      },
      { signal },
    )
    for await (const chunk of stream) {
      const piece = chunk.choices[0]?.delta.content ?? ''
      call.streamed(piece)
      usage = chunk.usage ?? usage
      if (piece !== '') yield piece
    }
    // Without a usage report, count the pieces.
    await call.end(usage ? tokensOf(usage) : undefined)
  } catch (error) {
    await call.fail()
    throw error
  } finally {
    // A reader may stop at any piece. Later calls do nothing.
    await call.abort()
  }
}

function tokensOf(usage: OpenAI.CompletionUsage) {
  const {
    prompt_tokens_details: input,
    completion_tokens_details: output,
  } = usage
  return reportedTokens({
    inputTokens: {
      total: usage.prompt_tokens,
      cacheRead: input?.cached_tokens,
    },
    outputTokens: {
      total: usage.completion_tokens,
      reasoning: output?.reasoning_tokens,
    },
  })
}
