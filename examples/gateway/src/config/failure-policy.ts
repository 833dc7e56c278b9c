import type { FailurePolicy } from '@scoregw/quota/internal'
import * as z from 'zod'
import { CATEGORIES } from '../quota/names.ts'

const MODES = ['closed', 'open', 'local'] as const

/** Whether requests are admitted while the counters are unavailable. */
export type FailureMode = (typeof MODES)[number]

/** The default: reads continue with this process's share, and writes are refused. */
export const FAILURE_MODES = 'read=local,write=closed'

/** A mode per category, written `read=local,write=closed`. */
export const failureModes = z.string().transform((text, context): Readonly<Record<string, FailureMode>> => {
  const modes: Record<string, FailureMode> = {}
  const fault = (message: string): void => {
    context.addIssue({ code: 'custom', message })
  }
  for (const entry of text.split(',')) {
    const [category = '', mode = ''] = entry.split(/=(.*)/s).map((part) => part.trim())
    if (!isCategory(category)) fault(`expected category=policy with the categories ${CATEGORIES.join(', ')}`)
    else if (!isMode(mode)) fault(`expected ${category}=closed, ${category}=open or ${category}=local`)
    else if (modes[category] !== undefined) fault(`expected ${category} once`)
    else modes[category] = mode
  }
  const missing = CATEGORIES.filter((category) => !new RegExp(`(?:^|,)\\s*${category}\\s*=`).test(text))
  for (const category of missing) fault(`expected a policy for ${category} too`)
  return modes
})

function isCategory(text: string): boolean {
  return (CATEGORIES as readonly string[]).includes(text)
}

function isMode(text: string): text is FailureMode {
  return (MODES as readonly string[]).includes(text)
}

/** Converts the modes to the engine's option. */
export function failurePolicyOf(
  modes: Readonly<Record<string, FailureMode>>,
  expectedProcesses: number,
): Readonly<Record<string, FailurePolicy>> {
  const entries = Object.entries(modes).map(([category, mode]) => {
    return [category, mode === 'local' ? { local: { expectedProcesses } } : mode] as const
  })
  return Object.fromEntries(entries)
}
