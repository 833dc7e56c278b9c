import { hrefOf, type Route } from '../../route.ts'
import type { WhyBody } from './why-api.ts'

export const WHAT_IFS = ['nothing', 'limit', 'mode', 'shadow'] as const
export type WhatIf = (typeof WHAT_IFS)[number]

/** A question as the form and the address have it: texts. */
export interface Question {
  readonly user: string
  /** Empty: that of the last refusal. */
  readonly operation: string
  readonly whatIf: WhatIf
  /** Layer and label of a limit, as {@link limitValue} writes them. */
  readonly limit: string
  readonly tokens: string
  readonly mode: string
  readonly days: string
}

export const DAYS = ['1', '7', '30'] as const

export function questionOf({ part, query }: Route): Question {
  const { operation = '', limit = '', tokens = '', mode = 'lenient', days = '7' } = query
  const whatIf = WHAT_IFS.find((each) => each === query.if) ?? 'nothing'
  return { user: part ?? '', operation, whatIf, limit, tokens, mode, days }
}

/** The page that answers it. */
export function hrefOfQuestion({ user, operation, whatIf, limit, tokens, mode, days }: Question): string {
  const extra = { nothing: {}, limit: { limit, tokens }, mode: { mode }, shadow: { limit } }[whatIf]
  const query = { operation, if: whatIf === 'nothing' ? '' : whatIf, ...extra, days: days === '7' ? '' : days }
  return hrefOf('why', user, query)
}

/** Both may have any letters. */
export function limitValue(layer: string, window: string): string {
  return JSON.stringify([layer, window])
}

/** Layer and label; `undefined`: an address that was typed by hand. */
function limitOf(value: string): readonly [layer: string, window: string] | undefined {
  try {
    const [layer, window] = JSON.parse(value) as unknown[]
    return typeof layer === 'string' && typeof window === 'string' ? [layer, window] : undefined
  } catch {
    return undefined
  }
}

/** Tables print `1,200`, and keyboards may write full-width digits. */
export function wholeNumber(text: string): number | undefined {
  const plain = text.normalize('NFKC').replaceAll(/[,\s_]/g, '')
  return /^\d{1,12}$/.test(plain) ? Number(plain) : undefined
}

/** The body of the request to the gateway. */
export function bodyOf({ operation, whatIf, limit, tokens, mode, days }: Question): WhyBody {
  const [layer, window] = limitOf(limit) ?? []
  const wanted = wholeNumber(tokens)
  const proposals = {
    nothing: undefined,
    limit: layer === undefined || wanted === undefined ? undefined : { limit: { layer, window, tokens: wanted } },
    mode: { mode },
    shadow: layer === undefined ? undefined : { shadow: { layer, window } },
  }
  const proposal = proposals[whatIf]
  return {
    ...(operation === '' ? {} : { operation }),
    ...(proposal === undefined ? {} : { proposal }),
    days: Number(days),
  } as WhyBody
}
