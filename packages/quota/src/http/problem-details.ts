import type { RefusedDecision } from '../decision/decision.ts'
import type { QuotaExceededBody } from './quota-answers.ts'

/** The body of an answer as problem details (RFC 9457); it has the members of the plain body too, but for `error` and `msg`. */
export interface ProblemDetails {
  /** A URI that identifies the kind of problem. */
  readonly type: string
  readonly title: string
  readonly status: number
  /** Text for people: the `msg` of the plain body. */
  readonly detail: string
  readonly [member: string]: unknown
}

/** The type that the draft of the `RateLimit` fields registers, and its title. */
const QUOTA_EXCEEDED = {
  type: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
  title: 'Request cannot be satisfied as assigned quota has been exceeded',
} as const

/** A refusal as problem details: `violated-policies` names the limits that refuse, as `RateLimit` does. */
export function quotaExceededProblem(
  { error: _, msg: detail, ...members }: QuotaExceededBody,
  { violations }: RefusedDecision,
): ProblemDetails {
  const names = violations.map(({ layer, window }) => `${layer}-${window}`)
  return { ...QUOTA_EXCEEDED, status: 429, detail, 'violated-policies': names, ...members }
}

const TITLES = { 401: 'Unauthorized', 503: 'Service Unavailable' } as const

/** Another answer as problem details, whose type is its status. */
export function problemOf(
  status: keyof typeof TITLES,
  { error: _, msg: detail, ...members }: { readonly error: string; readonly msg: string },
): ProblemDetails {
  return { type: 'about:blank', title: TITLES[status], status, detail, ...members }
}
