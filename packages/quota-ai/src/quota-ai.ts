import type { Counting, OneUnit } from '@scoregw/quota'
import { watchedStream } from '@scoregw/quota/internal'
import { type ModelCall, type ModelMeterOptions, type ModelRequest, modelMeter } from './model-meter.ts'
import { type ModelTokens, type ReportedUsage, reportedTokens } from './model-tokens.ts'

/** The call parameters that the middleware reads. */
export interface CallParams {
  readonly prompt: unknown
  readonly maxOutputTokens?: number | undefined
  readonly abortSignal?: AbortSignal | undefined
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined
  /** Options by provider. You can use `quota`, for example, to pass the user's id. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined
}

/** A call of the AI SDK. */
export interface AiRequest extends ModelRequest {
  readonly provider: string
  readonly params: CallParams
}

/** The options of {@link quotaAi}. */
export type QuotaAiOptions<Operation extends string = string, C extends Counting = OneUnit> = ModelMeterOptions<
  AiRequest,
  Operation,
  C
>

interface Model {
  readonly provider: string
  readonly modelId: string
}

interface Answer {
  readonly content?: readonly unknown[]
  readonly usage: ReportedUsage
}

interface Part {
  readonly type: string
  readonly delta?: unknown
  readonly usage?: unknown
}

/** Middleware for `wrapLanguageModel` of AI SDK 5 to 7. */
export interface QuotaAi {
  // The SDK's types want the version of their own; the middleware is the same for all.
  // biome-ignore lint/suspicious/noExplicitAny: assignable to every version's literal
  readonly specificationVersion: any
  transformParams<Params extends CallParams>(options: { readonly params: Params }): Promise<Params>
  wrapGenerate<Result extends Answer>(options: {
    readonly doGenerate: () => PromiseLike<Result>
    readonly params: CallParams
    readonly model: Model
  }): Promise<Result>
  wrapStream<Result extends { readonly stream: ReadableStream }>(options: {
    readonly doStream: () => PromiseLike<Result>
    readonly params: CallParams
    readonly model: Model
  }): Promise<Result>
}

/**
 * Makes middleware that meters model calls. Each call holds its estimated prompt and `maxOutputTokens`. When it ends,
 * the reported usage is charged. A failed call is refunded. An aborted stream is charged for what was streamed.
 *
 * @throws {QuotaError} `unknown_operation`; `invalid_options` for an operation without `overrun`
 * @example
 * wrapLanguageModel({ model, middleware: quotaAi({ quota, operation: 'chat', subject: userId }) })
 */
export function quotaAi<Operation extends string, C extends Counting>(options: QuotaAiOptions<Operation, C>): QuotaAi {
  const meter = modelMeter(options)
  const start = (params: CallParams, { provider, modelId }: Model): Promise<ModelCall> => {
    const { prompt, maxOutputTokens, abortSignal: signal } = params
    return meter.start({ model: modelId, provider, params, prompt, maxOutputTokens, signal })
  }
  return {
    specificationVersion: 'v3',
    async transformParams({ params }) {
      const { maxOutputTokens = options.maxOutputTokens } = params
      return maxOutputTokens === undefined ? params : { ...params, maxOutputTokens }
    },
    async wrapGenerate({ doGenerate, params, model }) {
      const call = await start(params, model)
      const answer = await made(doGenerate, call)
      countText(call, answer)
      await call.end(reportedTokens(answer.usage))
      return answer
    },
    async wrapStream({ doStream, params, model }) {
      const call = await start(params, model)
      const streaming = await made(doStream, call)
      return { ...streaming, stream: metered(streaming.stream, call) }
    },
  }
}

/** Calls the model. If that fails, settles before it throws. */
async function made<T>(make: () => PromiseLike<T>, call: ModelCall): Promise<T> {
  try {
    return (await make()) as T
  } catch (error) {
    await call.fail()
    throw error
  }
}

function metered(stream: ReadableStream<Part>, call: ModelCall): ReadableStream<Part> {
  let usage: Partial<ModelTokens> | undefined
  let isBroken = false
  const watch = {
    // Providers report a failure as a part before the stream ends.
    end: () => (isBroken && usage === undefined ? call.fail() : call.end(usage)),
    cancel: () => call.abort(),
    fail: () => call.fail(),
    unread: () => call.abort(),
  }
  return watchedStream(stream, watch, (part) => {
    if (typeof part.delta === 'string') call.streamed(part.delta)
    else if (part.type === 'finish') usage = knownUsage(reportedTokens(part.usage as ReportedUsage))
    else if (part.type === 'error') isBroken = true
  })
}

function knownUsage(usage: Partial<ModelTokens>): Partial<ModelTokens> | undefined {
  return Object.keys(usage).length > 0 ? usage : undefined
}

/** Counts the output's text, in case the provider reports no usage. */
function countText(call: ModelCall, { content = [] }: Answer): void {
  for (const { text, input } of content as readonly { readonly text?: unknown; readonly input?: unknown }[]) {
    if (typeof text === 'string') call.streamed(text)
    else if (typeof input === 'string') call.streamed(input)
  }
}
