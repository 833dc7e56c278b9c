import type { FailurePolicy } from '@scoregw/quota'
import * as z from 'zod'
import { policy } from '../quota/policy.ts'

const MODES = ['closed', 'open', 'local'] as const

/** Whether requests are admitted while the counters are unavailable. */
export type FailureMode = (typeof MODES)[number]

/** The default: reads continue with this process's share, and writes are refused. */
export const FAILURE_MODES: string = policy.categories
  .map((category) => `${category}=${category === 'read' ? 'local' : 'closed'}`)
  .join(',')

/** A mode per category, written `read=local,write=closed`. */
export const failureModes = z.string().transform((text, context): Readonly<Record<string, FailureMode>> => {
  const { categories } = policy
  const modes: Record<string, FailureMode> = {}
  const fault = (message: string): void => {
    context.addIssue({ code: 'custom', message })
  }
  for (const entry of text.split(',')) {
    const [category = '', mode = ''] = entry.split(/=(.*)/s).map((part) => part.trim())
    if (!categories.includes(category)) fault(`expected category=policy with the categories ${categories.join(', ')}`)
    else if (!isMode(mode)) fault(`expected ${category}=closed, ${category}=open or ${category}=local`)
    else if (modes[category] !== undefined) fault(`expected ${category} once`)
    else modes[category] = mode
  }
  const missing = categories.filter((category) => !new RegExp(`(?:^|,)\\s*${category}\\s*=`).test(text))
  for (const category of missing) fault(`expected a policy for ${category} too`)
  return modes
})

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
