import { plain } from '../text.ts'

/** Why a line was skipped, as text. */
export const SKIP_TEXTS = {
  not_json: 'not JSON, or half written',
  not_an_object: 'JSON, but not an object',
  not_common_log: 'not in common log format, or half written',
  too_long: 'longer than 65,536 characters',
  no_time: 'no time: name its field with --time',
  wrong_time: 'an invalid time',
  no_subject: 'no subject: name its field with --subject',
  wrong_subject: 'a subject that is neither text nor a number',
  no_operation: 'no matching route: map requests to operations with --route',
  unknown_operation: 'an operation that no policy has',
  wrong_cost: 'a cost that is not a whole number, or of money not a number',
  wrong_plan: 'an invalid plan name, or more than 1,000 plans',
} as const

export type SkipReason = keyof typeof SKIP_TEXTS

/** Skipped lines with the same reason. */
export interface SkippedLines {
  readonly reason: SkipReason
  readonly count: number
  /** The first such lines. */
  readonly examples: readonly { readonly line: number; readonly text: string }[]
}

const MAX_EXAMPLES = 3
const MAX_EXAMPLE = 80

/** Counts skipped lines by reason. */
export class Skipped {
  readonly #lines = new Map<SkipReason, { count: number; examples: { line: number; text: string }[] }>()
  #count = 0

  get count(): number {
    return this.#count
  }

  add(reason: SkipReason, line: number, text: string): void {
    this.#count++
    const known = this.#lines.get(reason) ?? { count: 0, examples: [] }
    this.#lines.set(reason, known)
    known.count++
    if (known.examples.length < MAX_EXAMPLES) known.examples.push({ line, text: plain(text, MAX_EXAMPLE) })
  }

  /** The counts, most frequent reason first. */
  all(): SkippedLines[] {
    return [...this.#lines].map(([reason, lines]) => ({ reason, ...lines })).toSorted((a, b) => b.count - a.count)
  }
}
