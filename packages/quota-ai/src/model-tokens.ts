/** The tokens of one model call. Each token is counted in one member. Whole numbers, 0 or more. */
export interface ModelTokens {
  /** Prompt tokens that the provider's cache neither had nor stored. */
  readonly input: number
  /** Prompt tokens read from the provider's cache. */
  readonly cachedInput: number
  /** Prompt tokens written to the provider's cache. */
  readonly cacheWrite: number
  /** Output tokens, without reasoning. */
  readonly output: number
  readonly reasoning: number
}

/** Returns the sum of all tokens. */
export function totalTokens({ input, cachedInput, cacheWrite, output, reasoning }: ModelTokens): number {
  return input + cachedInput + cacheWrite + output + reasoning
}

/** Returns tokens without details: only how many went in and came out. */
export function plainTokens(input: number, output: number): ModelTokens {
  return { input, cachedInput: 0, cacheWrite: 0, output, reasoning: 0 }
}

/** UTF-8 bytes per token. English has about four. Three makes estimates too high rather than too low. */
const BYTES_PER_TOKEN = 3
/** The tokens of a picture or file in a prompt. */
const FILE_TOKENS = 1_500

const encoder = /* @__PURE__ */ new TextEncoder()

/** Estimates the tokens of a text: a third of its UTF-8 bytes, rounded up. */
export function textTokens(text: string): number {
  return bytesToTokens(encoder.encode(text).length)
}

/**
 * Estimates the tokens of a prompt: its texts, plus 1,500 for each picture or file. Accepts prompts of the AI SDK, and
 * messages of the OpenAI and Anthropic clients.
 */
export function promptTokens(prompt: unknown): number {
  const seen = { bytes: 0, files: 0 }
  measure(prompt, seen)
  return bytesToTokens(seen.bytes) + seen.files * FILE_TOKENS
}

/** Adds up the texts in a value, at any depth. The contents of files don't count as text. */
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

interface ReportedInput {
  readonly total: number | undefined
  readonly cacheRead?: number | undefined
  readonly cacheWrite?: number | undefined
}

interface ReportedOutput {
  readonly total: number | undefined
  readonly reasoning?: number | undefined
}

/** Usage as reported by AI SDK providers, in versions 2, 3 and 4 of the specification. */
export interface ReportedUsage {
  readonly inputTokens?: number | ReportedInput | undefined
  readonly outputTokens?: number | ReportedOutput | undefined
  readonly cachedInputTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
}

/** Returns the reported tokens. What the provider didn't report is missing. */
export function reportedTokens(usage: ReportedUsage | undefined): Partial<ModelTokens> {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = usage ?? {}
  const input = typeof inputTokens === 'object' ? inputTokens : { total: inputTokens, cacheRead: cachedInputTokens }
  const output = typeof outputTokens === 'object' ? outputTokens : { total: outputTokens, reasoning: reasoningTokens }
  return { ...promptPart(input), ...outputPart(output) }
}

function promptPart({ total, cacheRead, cacheWrite: written }: ReportedInput): Partial<ModelTokens> {
  if (!isCount(total)) return {}
  const cachedInput = partOf(total, cacheRead)
  const cacheWrite = partOf(total - cachedInput, written)
  return { input: total - cachedInput - cacheWrite, cachedInput, cacheWrite }
}

function outputPart({ total, reasoning: thought }: ReportedOutput): Partial<ModelTokens> {
  if (!isCount(total)) return {}
  const reasoning = partOf(total, thought)
  return { output: total - reasoning, reasoning }
}

/**
 * Completes reported tokens with estimates. The prompt or the output is estimated if it wasn't reported, and an output of
 * 0 if there was one. Some providers report 0 for everything.
 */
export function completeTokens(reported: Partial<ModelTokens>, estimate: ModelTokens): ModelTokens {
  const { input, cachedInput = 0, cacheWrite = 0, output = 0, reasoning = 0 } = reported
  const isNothing = output + reasoning === 0
  const isWrong = isNothing && estimate.output > 0 && (input ?? 0) + cachedInput + cacheWrite === 0
  const isUnknown = isWrong || (input === undefined && cachedInput + cacheWrite === 0)
  return {
    ...(isUnknown ? plainTokens(estimate.input, 0) : { input: input ?? 0, cachedInput, cacheWrite }),
    ...(isNothing ? { output: estimate.output, reasoning: 0 } : { output, reasoning }),
  }
}

function isCount(value: number | undefined): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0
}

function partOf(total: number, part: number | undefined): number {
  return isCount(part) ? Math.min(total, part) : 0
}
