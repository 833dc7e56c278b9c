import * as z from 'zod'

const COMBO = ['none', 'fc', 'fcp', 'ap', 'app'] as const
const SYNC = ['none', 'fs', 'fsp', 'fsd', 'fsdp', 'sync'] as const
/** The sync statuses from the weakest to the strongest; their numbers have another order. */
const SYNC_BY_STRENGTH = ['none', 'sync', 'fs', 'fsp', 'fsd', 'fsdp'] as const
const SYNC_STRENGTHS = SYNC.map((name) => SYNC_BY_STRENGTH.indexOf(name))
/** Other names that clients use. */
const SYNC_ALIASES = { fdx: 'fsd', fdxp: 'fsdp' } as const

/** A status as its name or its number, read as its number. */
function statusSchema(names: readonly string[], aliases: Readonly<Record<string, string>> = {}): z.ZodType<number> {
  const numbers = new Map<unknown, number>(names.flatMap((name, index) => [[name, index] as const, [index, index]]))
  for (const [alias, name] of Object.entries(aliases)) numbers.set(alias, names.indexOf(name))
  const known = [...names, ...Object.keys(aliases)].join(', ')
  return z
    .union([z.string(), z.number()], { error: `expected 0 to ${names.length - 1} or one of ${known}` })
    .transform((value, context) => {
      const number = numbers.get(value)
      if (number !== undefined) return number
      context.addIssue({ code: 'custom', message: `expected 0 to ${names.length - 1} or one of ${known}` })
      return z.NEVER
    })
    .meta({
      type: undefined,
      enum: [...numbers.keys()],
      description: `A name or its number: ${names.map((name, index) => `${index} ${name}`).join(', ')}.`,
    })
}

export const comboStatusSchema: z.ZodType<number> = statusSchema(COMBO)
export const syncStatusSchema: z.ZodType<number> = statusSchema(SYNC, SYNC_ALIASES)

/** The name of a combo status. */
export function comboName(status: number): string {
  return COMBO[status] ?? 'none'
}

/** The name of a sync status. */
export function syncName(status: number): string {
  return SYNC[status] ?? 'none'
}

/** How much a sync status is worth: of two the greater is the better play. */
export function syncStrength(status: number): number {
  return SYNC_STRENGTHS[status] ?? 0
}
