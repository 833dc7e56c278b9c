import * as v from 'valibot'
import { type Scenario, scenarioSchema } from './scenario.ts'

/** Before what follows; another number once an old address could no longer be read. */
const VERSION = 'v1.'
/** Longest fragment that is checked; the largest scenario takes about two thirds of it. */
export const LONGEST_FRAGMENT = 8_000

export type Read = { readonly scenario: Scenario } | { readonly fault: string }

/** A scenario as the fragment of an address, without `#`. */
export function fragmentOf(scenario: Scenario): string {
  const bytes = new TextEncoder().encode(JSON.stringify(scenario))
  const base64 = btoa(String.fromCharCode(...bytes))
  return VERSION + base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** What a fragment carries: checked whole, since anybody may have written it. */
export function readFragment(fragment: string): Read {
  if (fragment.length > LONGEST_FRAGMENT) return { fault: 'This address is longer than any that is made here.' }
  const version = /^v\d{1,4}\./.exec(fragment)?.[0]
  if (version === undefined) return { fault: 'This address holds no playground.' }
  if (version !== VERSION) return { fault: 'This address was made by another version of the playground.' }
  const parsed = parsedJson(fragment.slice(version.length))
  const checked = v.safeParse(scenarioSchema, parsed)
  if (checked.success) return { scenario: checked.output }
  return { fault: parsed === undefined ? 'This address is cut off.' : `Not playable: ${checked.issues[0].message}.` }
}

function parsedJson(base64url: string): unknown {
  try {
    const bytes = Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (each) =>
      each.charCodeAt(0),
    )
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown
  } catch {
    return undefined
  }
}
