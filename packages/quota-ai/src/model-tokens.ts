/** The tokens of one call of a model, each counted once: whole numbers, 0 or more. */
export interface ModelTokens {
  /** Of the prompt, those aside that a cache had or takes. */
  readonly input: number
  /** Of the prompt, those that the provider's cache had. */
  readonly cachedInput: number
  /** Of the prompt, those that the provider's cache takes. */
  readonly cacheWrite: number
  /** Of the answer, its reasoning aside. */
  readonly output: number
  readonly reasoning: number
}

/** All tokens of a call. */
export function totalTokens({ input, cachedInput, cacheWrite, output, reasoning }: ModelTokens): number {
  return input + cachedInput + cacheWrite + output + reasoning
}

/** Tokens of which nothing is known but how many went in and came out. */
export function plainTokens(input: number, output: number): ModelTokens {
  return { input, cachedInput: 0, cacheWrite: 0, output, reasoning: 0 }
}

/** UTF-8 bytes of one token. English has about four; fewer, so that an estimate is high rather than low. */
const BYTES_PER_TOKEN = 3
/** What a picture or a file of a prompt counts. */
const FILE_TOKENS = 1_500

const encoder = /* @__PURE__ */ new TextEncoder()

/** How many tokens a text has, roughly: its UTF-8 bytes by three, rounded up. */
export function textTokens(text: string): number {
  return bytesToTokens(encoder.encode(text).length)
}

/**
 * How many tokens a prompt has, roughly: of all texts in it, and 1,500 for each picture or file. Takes prompts of the AI SDK
 * and the messages of the clients of OpenAI and Anthropic.
 */
export function promptTokens(prompt: unknown): number {
  const seen = { bytes: 0, files: 0 }
  measure(prompt, seen)
  return bytesToTokens(seen.bytes) + seen.files * FILE_TOKENS
}

/** Adds up the texts of a value, at any depth. The bytes of a file are no text, however they are written. */
function measure(value: unknown, seen: { bytes: number; files: number }): void {
  if (typeof value === 'string') seen.bytes += encoder.encode(value).length
  else if (isFile(value)) seen.files++
  else if (typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)) {
    for (const each of Object.values(value)) measure(each, seen)
  }
}

function bytesToTokens(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN)
}

const FILES: ReadonlySet<unknown> = /* @__PURE__ */ new Set([
  'file',
  'image',
  'image_url',
  'input_image',
  'input_file',
  'document',
  'input_audio',
])

function isFile(value: unknown): boolean {
  return FILES.has((value as { readonly type?: unknown } | null | undefined)?.type)
}

/** Usage as providers of the AI SDK report it: version 3 and 4 of its specification, and 2. */
export interface ReportedUsage {
  readonly inputTokens?:
    | number
    | {
        readonly total: number | undefined
        readonly cacheRead?: number | undefined
        readonly cacheWrite?: number | undefined
      }
    | undefined
  readonly outputTokens?:
    | number
    | { readonly total: number | undefined; readonly reasoning?: number | undefined }
    | undefined
  readonly cachedInputTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
}

/** What a provider reported; `undefined`: nothing, of the prompt or the answer. */
export function reportedTokens(usage: ReportedUsage | undefined): ModelTokens | undefined {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage ?? {}
  const input = typeof inputTokens === 'object' ? inputTokens : { total: inputTokens, cacheRead: cachedInputTokens }
  const output = typeof outputTokens === 'object' ? outputTokens : { total: outputTokens, reasoning: reasoningTokens }
  if (!isCount(input.total) || !isCount(output.total)) return undefined
  const cachedInput = partOf(input.total, input.cacheRead)
  const cacheWrite = partOf(input.total - cachedInput, input.cacheWrite)
  const reasoning = partOf(output.total, output.reasoning)
  return {
    input: input.total - cachedInput - cacheWrite,
    cachedInput,
    cacheWrite,
    output: output.total - reasoning,
    reasoning,
  }
}

function isCount(value: number | undefined): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0
}

function partOf(total: number, part: number | undefined): number {
  return isCount(part) ? Math.min(total, part) : 0
}
