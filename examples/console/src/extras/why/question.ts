import { hrefOf, type Route } from '../../route.ts'
import type { WhyBody } from './why-api.ts'

export const WHAT_IFS = ['nothing', 'limit', 'mode', 'shadow'] as const
export type WhatIf = (typeof WHAT_IFS)[number]

/** A question as texts, as in the form and the address. */
export interface Question {
  readonly user: string
  /** Empty for the operation that was refused last. */
  readonly operation: string
  readonly whatIf: WhatIf
  /** A layer and a label, as {@link limitValue} writes them. */
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

export function hrefOfQuestion({ user, operation, whatIf, limit, tokens, mode, days }: Question): string {
  const extra = { nothing: {}, limit: { limit, tokens }, mode: { mode }, shadow: { limit } }[whatIf]
  const query = { operation, if: whatIf === 'nothing' ? '' : whatIf, ...extra, days: days === '7' ? '' : days }
  return hrefOf('why', user, query)
}

/** Layer and label may contain any characters, so they are encoded as JSON. */
export function limitValue(layer: string, window: string): string {
  return JSON.stringify([layer, window])
}

/** `undefined` if the address was typed by hand. */
function limitOf(value: string): readonly [layer: string, window: string] | undefined {
  try {
    const [layer, window] = JSON.parse(value) as unknown[]
    return typeof layer === 'string' && typeof window === 'string' ? [layer, window] : undefined
  } catch {
    return undefined
  }
}

/** Accepts `1,200`, as tables print it, and full-width digits. */
export function wholeNumber(text: string): number | undefined {
  const plain = text.normalize('NFKC').replaceAll(/[,\s_]/g, '')
  return /^\d{1,12}$/.test(plain) ? Number(plain) : undefined
}

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
